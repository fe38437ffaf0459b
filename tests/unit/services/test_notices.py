"""Notices: nothing in them blocks or fails, and whoever waits is woken."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import pytest

from matches.services import metrics, notices, outbox
from matches.services.outbox import Outbox


def count(box: str, result: str) -> float:
    return float(metrics.OUTBOX.labels(box, result)._value.get())


@pytest.fixture
def box() -> str:
    """A name of its own, so that its counters begin at nothing."""
    return f"box-{uuid4().hex}"


class TestOutbox:
    def test_sends_in_order(self, box: str) -> None:
        sent: list[int] = []
        out: Outbox[int] = Outbox(box, sent.extend)
        for number in range(100):
            out.put(number)
        out.close()

        assert sent == list(range(100))
        assert count(box, "sent") == 100

    def test_sends_together_what_came_together(self, box: str) -> None:
        calls: list[Sequence[int]] = []
        out: Outbox[int] = Outbox(box, calls.append)
        for number in range(100):
            out.put(number)
        out.close()

        assert len(calls) < 20

    def test_drops_what_does_not_fit_without_waiting(self, box: str) -> None:
        stuck = threading.Event()

        def send(_numbers: Sequence[int]) -> None:
            stuck.wait(60)

        out: Outbox[int] = Outbox(box, send, capacity=10)
        begun_s = time.monotonic()
        for number in range(50):
            out.put(number)
            time.sleep(0.001)
        spent_s = time.monotonic() - begun_s
        stuck.set()
        out.close()

        assert spent_s < 30
        assert count(box, "dropped") >= 10
        assert count(box, "dropped") + count(box, "sent") == 50

    def test_forgets_what_failed_and_goes_on(self, box: str, monkeypatch: Any) -> None:
        monkeypatch.setattr(outbox, "REST_S", 0.0)
        sent: list[int] = []

        def send(numbers: Sequence[int]) -> None:
            if numbers[0] % 2:
                raise ConnectionError("away")
            sent.extend(numbers)

        out: Outbox[int] = Outbox(box, send, most_at_once=1)
        for number in range(6):
            out.put(number)
        out.close()

        assert sent == [0, 2, 4]
        assert (count(box, "failed"), count(box, "sent")) == (3, 3)

    def test_drops_what_waited_too_long(self, box: str) -> None:
        sent: list[int] = []
        out: Outbox[int] = Outbox(box, sent.extend, stale_s=-1.0)
        out.put(1)
        out.close()

        assert sent == []
        assert count(box, "dropped") == 1

    def test_begins_again_after_it_was_closed(self, box: str) -> None:
        sent: list[int] = []
        out: Outbox[int] = Outbox(box, sent.extend)
        out.put(1)
        out.close()
        out.put(2)
        out.close()

        assert sent == [1, 2]


class TestSwitchboard:
    def test_calls_those_of_the_match_alone(self) -> None:
        board, here, there = notices.Switchboard(), uuid4(), uuid4()
        called: list[str] = []
        board.add(here, lambda: called.append("here"))
        board.add(there, lambda: called.append("there"))

        board.tell(here)
        assert called == ["here"]
        board.tell_all()
        assert sorted(called) == ["here", "here", "there"]

    def test_calls_nobody_who_has_left(self) -> None:
        board, match_id = notices.Switchboard(), uuid4()
        waiter = notices.Waiter()
        board.add(match_id, waiter.tell)
        board.remove(match_id, waiter.tell)
        board.tell(match_id)

        assert not waiter.wait(0)
        assert board._calls == {}

    def test_lets_in_as_many_as_there_are_places(self) -> None:
        board = notices.Switchboard()

        assert [board.enter(2), board.enter(2), board.enter(2)] == [True, True, False]
        board.leave()
        assert board.enter(2)
        board.leave()
        board.leave()


class TestWaiter:
    def test_keeps_what_it_was_told_before_it_waits(self) -> None:
        waiter = notices.Waiter()
        waiter.tell()

        assert waiter.wait(0)
        assert not waiter.wait(0)

    def test_is_woken(self) -> None:
        waiter = notices.Waiter()
        threading.Timer(0.02, waiter.tell).start()

        assert waiter.wait(5)


class TestAllowance:
    def test_is_a_seconds_worth_at_once_and_grows_back(self) -> None:
        now_s = [0.0]
        allowance = notices.Allowance(4, clock=lambda: now_s[0])

        assert [allowance.spend() for _ in range(6)] == [True] * 4 + [False] * 2
        now_s[0] = 0.5
        assert [allowance.spend() for _ in range(3)] == [True, True, False]
        now_s[0] = 100.0
        assert [allowance.spend() for _ in range(5)] == [True] * 4 + [False]


class TestFork:
    @pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
    def test_leaves_no_thread_or_lock_of_the_parents(self) -> None:
        hub = notices._hub
        with hub.switchboard._lock:
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    if notices._hub is not hub and notices._hub.switchboard.enter(1):
                        code = 0
                finally:
                    os._exit(code)
        _, status = os.waitpid(child, 0)

        assert os.waitstatus_to_exitcode(status) == 0
