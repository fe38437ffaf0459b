"""Whole matches without waiting: the real log, seen by a clock that a test alone moves."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import msgspec

from matches.bots.policies import Greedy, Policy
from matches.eventstore import store
from matches.eventstore.rows import Loaded
from matches.games.xqmj.actions import HandAction
from matches.games.xqmj.view import HandView
from matches.services import execute, notices
from matches.services.cache import Cache
from matches.services.engine import Engine
from tests.support.api import Player


class AheadStore:
    """The event store, always just alive, at the instant it was first asked plus `ahead_ms`.

    However slow the machine is, no clock runs and nobody's time is over unless the test says so.
    """

    def __init__(self) -> None:
        self.ahead_ms = 0
        self._from_ms = 0

    def now(self) -> int:
        return self._at(store.now())

    def _at(self, now_ms: int) -> int:
        self._from_ms = self._from_ms or now_ms
        return self._from_ms + self.ahead_ms

    def load(self, match_id: Any, *, after_version: int = 0) -> Loaded | None:
        loaded = store.load(match_id, after_version=after_version)
        if loaded is None:
            return None
        now_ms = self._at(loaded.now_ms)
        return msgspec.structs.replace(loaded, now_ms=now_ms, alive_ms=now_ms, gaps=())

    append = staticmethod(store.append)
    create = staticmethod(store.create)
    created_by = staticmethod(store.created_by)
    beat = staticmethod(store.beat)
    due = staticmethod(store.due)


@contextlib.contextmanager
def clock() -> Iterator[AheadStore]:
    """Let this process play by a clock that stands still but for what the test sets it ahead."""
    ahead = AheadStore()
    before = execute._engine
    execute._engine = Engine(
        store=ahead, cache=Cache(256), may_beat=False, committed=notices.committed
    )
    try:
        yield ahead
    finally:
        execute._engine = before


def chosen(view: dict[str, Any], policy: Policy) -> dict[str, Any]:
    """The policy's action, from nothing but a view as the API gives it."""
    hand = msgspec.convert(view["hand"], HandView)
    legal = msgspec.convert(view["legal"], list[HandAction])
    found: dict[str, Any] = msgspec.to_builtins(policy.choose(hand, legal))
    return found


def play(match_id: str, players: tuple[Player, ...], ahead: AheadStore) -> int:
    """Play a match to its end by greedy players; gives the number of their actions."""
    policy, actions = Greedy(), 0
    for _ in range(2_000):
        acted = False
        for player in players:
            view = player.view(match_id)
            if view["phase"] == "ended":
                return actions
            if view["phase"] == "intermission" and not view["ready"][view["you"]]:
                answer = player.post(f"matches/{match_id}/ready")
            elif view["legal"]:
                answer = player.act(match_id, chosen(view, policy))
                actions += 1
            else:
                continue
            assert answer.status == 200, answer.raw
            acted = True
        if not acted:
            ahead.ahead_ms += 1_500
    raise AssertionError("the match does not end")
