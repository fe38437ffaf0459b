from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

from matches.services import throttling
from matches.services.errors import ServiceError
from matches.services.throttling import Throttle


class Shared:
    """The counts as Valkey keeps them, for several processes; `away` is what it raises instead.

    `on_the_way_there` are calls made before a request is counted, `on_the_way` those made
    while its answer, already counted, is on its way.
    """

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.calls = 0
        self.away: Exception | None = None
        self.on_the_way_there: list[Callable[[], object]] = []
        self.on_the_way: list[Callable[[], object]] = []
        self.slow_s = 0.0
        self._lock = threading.Lock()

    def script(self) -> Callable[..., tuple[int, int]]:
        return self.spend

    def spend(self, *, keys: list[str], args: list[int]) -> tuple[int, int]:
        self.calls += 1
        if self.away is not None:
            raise self.away
        if self.on_the_way_there:
            self.on_the_way_there.pop()()
        with self._lock:
            self.counts[keys[0]] = self.counts.get(keys[0], 0) + args[0]
            answer = self.counts[keys[0]], args[1]
        if self.on_the_way:
            self.on_the_way.pop()()
        if self.slow_s:
            time.sleep(self.slow_s)
        return answer


# Some tests ask for the store and then look at the throttle alone.
# ruff: noqa: ARG002


@pytest.fixture
def shared(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Shared:
    settings.XQMJ_THROTTLES = {"play": "100/60", "login": "3/60"}
    found = Shared()
    monkeypatch.setattr(Throttle, "_script", lambda _self, **_: found.script())
    return found


def allowed(throttle: Throttle, scope: str, who: str, times: int) -> int:
    """How many of so many requests pass."""
    passed = 0
    for _ in range(times):
        try:
            throttle.spend(scope, who)
        except ServiceError as problem:
            assert (problem.code, problem.retry_after_s) == ("too_many_requests", 60)  # noqa: PT017
        else:
            passed += 1
    return passed


def allowed_at_once(throttle: Throttle, scope: str, who: str) -> int:
    """How many of 160 requests pass that 16 threads send."""
    begin = threading.Barrier(16, timeout=30)

    def send(_: int) -> int:
        begin.wait()
        return allowed(throttle, scope, who, 10)

    with ThreadPoolExecutor(16) as threads:
        return sum(threads.map(send, range(16), timeout=30))


class TestSpend:
    def test_lets_exactly_the_allowance_pass(self, shared: Shared) -> None:
        assert allowed(Throttle(), "play", "ada", 150) == 100

    def test_asks_the_store_once_for_several(self, shared: Shared) -> None:
        allowed(Throttle(), "play", "ada", 100)

        assert shared.calls == 50

    def test_does_not_ask_again_for_somebody_who_is_out(self, shared: Shared) -> None:
        throttle = Throttle()
        allowed(throttle, "play", "ada", 101)
        calls = shared.calls

        allowed(throttle, "play", "ada", 500)

        assert shared.calls == calls

    def test_counts_two_processes_together(self, shared: Shared) -> None:
        one, other = Throttle(), Throttle()

        passed = sum(
            allowed(process, "play", "ada", 1) for _ in range(100) for process in (one, other)
        )

        assert passed == 100

    def test_counts_each_account_by_itself(self, shared: Shared) -> None:
        throttle = Throttle()
        allowed(throttle, "play", "ada", 150)

        assert allowed(throttle, "play", "bob", 100) == 100

    def test_counts_log_ins_one_by_one(self, shared: Shared) -> None:
        assert allowed(Throttle(), "login", "ada", 10) == 3


class TestSpendAtOnce:
    @pytest.fixture(autouse=True)
    def _impatient(self) -> Iterator[None]:
        # Threads change places between any two steps, not only where one waits.
        usual_s = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        yield
        sys.setswitchinterval(usual_s)

    def test_loses_nothing_of_what_two_have_fetched(self, shared: Shared) -> None:
        throttle = Throttle()
        shared.on_the_way = [lambda: throttle.spend("play", "ada")]

        throttle.spend("play", "ada")

        assert shared.counts == {"xqmj:throttle:play:ada": 4}
        assert allowed(throttle, "play", "ada", 2) == 2
        assert shared.calls == 2

    def test_leaves_a_lease_alone_when_another_finds_nothing_left(self, shared: Shared) -> None:
        throttle = Throttle()
        assert allowed(Throttle(), "play", "ada", 97) == 97
        shared.on_the_way = [lambda: allowed(throttle, "play", "ada", 1)]

        # The last two are fetched first and arrive last; the other found nothing left.
        assert allowed(throttle, "play", "ada", 1) == 1
        assert allowed(throttle, "play", "ada", 2) == 1

    def test_takes_nothing_from_a_lease_because_it_came_too_late(self, shared: Shared) -> None:
        throttle = Throttle()
        shared.counts["xqmj:throttle:play:ada"] = 96
        shared.on_the_way_there = [lambda: throttle.spend("play", "ada")]
        throttle.spend("play", "ada")
        assert allowed(throttle, "play", "ada", 2) == 2

        shared.counts["xqmj:throttle:play:bob"] = 98
        shared.on_the_way_there = [lambda: throttle.spend("play", "bob")]
        # Another fetches the last two while this one still asks, and finds nothing left.
        assert allowed(throttle, "play", "bob", 1) == 1
        assert allowed(throttle, "play", "bob", 1) == 0

    def test_by_many_threads_lets_exactly_the_allowance_pass(self, shared: Shared) -> None:
        throttle, shared.slow_s = Throttle(), 0.01

        assert allowed_at_once(throttle, "play", "ada") == 100

    def test_without_the_store_lets_exactly_the_allowance_pass(self, shared: Shared) -> None:
        throttle, shared.away = Throttle(), redis.ConnectionError()

        assert allowed_at_once(throttle, "play", "ada") == 100

    def test_remembers_a_bounded_number_those_asked_for_last(
        self, shared: Shared, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(throttling, "KEPT", 3)
        throttle = Throttle()

        for who in ("ada", "bob", "cleo", "ada", "dan"):
            throttle.spend("play", who)

        assert [who for _, who in throttle._leases] == ["cleo", "ada", "dan"]


class TestWithoutTheStore:
    @pytest.fixture(params=[redis.ConnectionError(), redis.TimeoutError(), OSError()])
    def away(self, shared: Shared, request: pytest.FixtureRequest) -> Shared:
        shared.away = request.param
        return shared

    def test_play_goes_on_within_the_allowance_of_one_process(self, away: Shared) -> None:
        assert allowed(Throttle(), "play", "ada", 150) == 100

    def test_log_in_is_closed(self, away: Shared) -> None:
        with pytest.raises(ServiceError) as caught:
            Throttle().spend("login", "ada")

        assert (caught.value.code, caught.value.retry_after_s) == ("throttle_unavailable", 5)

    def test_is_asked_for_a_log_in_even_so(self, away: Shared) -> None:
        throttle = Throttle()
        allowed(throttle, "play", "ada", 1)
        away.away = None

        assert allowed(throttle, "login", "ada", 1) == 1

    def test_is_left_alone_for_a_while(self, away: Shared) -> None:
        throttle = Throttle()

        allowed(throttle, "play", "ada", 5)
        allowed(throttle, "play", "bob", 5)

        assert away.calls == 1

    def test_counts_are_shared_again_afterwards(
        self, away: Shared, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        throttle, clock = Throttle(), [1000.0]
        monkeypatch.setattr("time.monotonic", lambda: clock[0])
        allowed(throttle, "play", "ada", 1)

        away.away = None
        clock[0] += 61
        allowed(throttle, "play", "ada", 1)

        assert away.counts == {"xqmj:throttle:play:ada": 2}


class TestLimitOf:
    def test_keeps_what_guards_passwords_closed_whatever_its_numbers(self, settings: Any) -> None:
        settings.XQMJ_THROTTLES = {"login": "7/30"}

        assert throttling.limit_of("login") == throttling.Limit(7, 30, guards=True)

    def test_has_documented_defaults(self, settings: Any) -> None:
        settings.XQMJ_THROTTLES = {}

        assert throttling.limit_of("play") == throttling.Limit(600, 60)
