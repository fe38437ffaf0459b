from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import redis

from matches.api import throttling
from matches.api.problems import Problem
from matches.api.throttling import Throttle


class Shared:
    """The counts as Valkey keeps them, for several processes; `away` is what it raises instead."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.calls = 0
        self.away: Exception | None = None

    def script(self) -> Callable[..., tuple[int, int]]:
        return self.spend

    def spend(self, *, keys: list[str], args: list[int]) -> tuple[int, int]:
        self.calls += 1
        if self.away is not None:
            raise self.away
        self.counts[keys[0]] = self.counts.get(keys[0], 0) + args[0]
        return self.counts[keys[0]], args[1]


# Some tests ask for the store and then look at the throttle alone.
# ruff: noqa: ARG002


@pytest.fixture
def shared(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Shared:
    settings.XQMJ_THROTTLES = {"play": "100/60", "login": "3/60"}
    found = Shared()
    monkeypatch.setattr(Throttle, "_script", lambda _self: found.script())
    return found


def allowed(throttle: Throttle, scope: str, who: str, times: int) -> int:
    """How many of so many requests pass."""
    passed = 0
    for _ in range(times):
        try:
            throttle.spend(scope, who)
        except Problem as problem:
            assert (problem.code, problem.retry_after_s) == ("too_many_requests", 60)  # noqa: PT017
        else:
            passed += 1
    return passed


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


class TestWithoutTheStore:
    @pytest.fixture(params=[redis.ConnectionError(), redis.TimeoutError(), OSError()])
    def away(self, shared: Shared, request: pytest.FixtureRequest) -> Shared:
        shared.away = request.param
        return shared

    def test_play_goes_on_within_the_allowance_of_one_process(self, away: Shared) -> None:
        assert allowed(Throttle(), "play", "ada", 150) == 100

    def test_log_in_is_closed(self, away: Shared) -> None:
        with pytest.raises(Problem) as caught:
            Throttle().spend("login", "ada")

        assert (caught.value.code, caught.value.retry_after_s) == ("throttle_unavailable", 5)

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
