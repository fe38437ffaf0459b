"""What readiness answers while its facts are looked up."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from matches.api import health
from matches.api.answers import Fact

UP = Fact("database", ok=True, required=True, found="up")
AWAY = Fact("database", ok=False, required=True, found="away")


class Database:
    """A database that answers when the test lets it, and what it then says."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self.may_answer = threading.Event()
        self.says = UP
        self.looks = 0

    def look(self) -> tuple[Fact, ...]:
        self.looks += 1
        self.asked.release()
        assert self.may_answer.wait(30)
        return (self.says,)


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Database:
    found = Database()
    monkeypatch.setattr(health, "_database", found.look)
    monkeypatch.setattr(
        health, "_server", lambda name, _look: Fact(name, ok=True, required=False, found="up")
    )
    return found


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now_s = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now_s[0])
    return now_s


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


class TestFound:
    def test_is_told_for_a_second(self, database: Database, clock: list[float]) -> None:
        database.may_answer.set()
        found = health._Found()
        for _ in range(3):
            assert UP in found.get()
        assert database.looks == 1

        clock[0] += 1
        found.get()

        assert database.looks == 2

    def test_is_told_while_it_is_looked_up_again(
        self, database: Database, clock: list[float], threads: ThreadPoolExecutor
    ) -> None:
        database.may_answer.set()
        found = health._Found()
        found.get()
        clock[0] += 2
        database.may_answer.clear()
        database.says = AWAY
        look = threads.submit(found.get)
        assert database.asked.acquire(timeout=30)
        assert database.asked.acquire(timeout=30)

        assert UP in found.get()

        database.may_answer.set()
        assert AWAY in look.result(30)
        assert AWAY in found.get()

    def test_is_not_told_when_it_is_old(
        self, database: Database, clock: list[float], threads: ThreadPoolExecutor
    ) -> None:
        database.may_answer.set()
        found = health._Found()
        found.get()
        clock[0] += 10
        database.may_answer.clear()
        look = threads.submit(found.get)
        assert database.asked.acquire(timeout=30)
        assert database.asked.acquire(timeout=30)

        assert [fact.ok for fact in found.get()] == [False]

        database.may_answer.set()
        look.result(30)

    def test_is_not_ready_before_the_first_look_has_ended(
        self, database: Database, threads: ThreadPoolExecutor
    ) -> None:
        found = health._Found()
        look = threads.submit(found.get)
        assert database.asked.acquire(timeout=30)

        (fact,) = found.get()

        assert (fact.ok, fact.required) == (False, True)
        database.may_answer.set()
        assert UP in look.result(30)
