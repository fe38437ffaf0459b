"""A match under the API, on a clock of its own.

Each world is a log in memory under the whole stack above it: gate, views,
services, engine. Its clock is the test's, so that both worlds have the same
instants; a long poll waits in that time, too. Compared is all that HTTP tells:
status, headers (but for the request's own id), body, and how long a poll took.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import msgspec
import pytest
from django.db import connections

from matches.domain.clock import Due
from matches.domain.commands import Act, Body, Join, Leave, Ready, Resign
from matches.domain.state import Match
from matches.games.protocol import Action, Seat, Viewer
from matches.services import accounts, execute, heartbeat, notices, people, standings
from matches.services import matches as services
from matches.services.accounts import Identity
from matches.services.cache import Cache, Entry
from matches.services.engine import Engine
from matches.services.people import PlayerRef
from matches.services.ports import Standing
from tests.leaks.engine import worlds as engine_worlds
from tests.leaks.engine.worlds import PLAYERS, RULES, Wall
from tests.support import wsgi
from tests.support.memory_store import Clock, MemoryStore
from tests.support.sitting import ANA, BEN, EVE, MATCH_ID, SECRET, created

BASE_MS = 1_700_000_000_000
ID = UUID(bytes=MATCH_ID)
ROOT = f"/api/v1/matches/{ID.hex}"
KNOWN = {
    public_id: PlayerRef(public_id, name, "registered")
    for public_id, name in ((ANA, "ana"), (BEN, "ben"), (EVE, "eve"))
}
PATHS: dict[type, str] = {
    Act: "act",
    Ready: "ready",
    Join: "join",
    Resign: "resign",
    Leave: "leave",
}

Seen = tuple[str, int, str, bytes]
"""What was asked, and the status, headers and body of the answer."""

_acting: list[HttpWorld] = []


@contextmanager
def parlour() -> Iterator[pytest.MonkeyPatch]:
    """Put the worlds where the process has its log, its clock, its tokens and its players."""
    # Django's handler looks at a connection that a test before this one left open.
    connections.close_all()
    with engine_worlds.rigged(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "authenticate", _authenticated)
        patch.setattr(people, "by_ids", lambda ids: {one: KNOWN[one] for one in ids})
        patch.setattr(execute, "engine", lambda: _acting[0].engine)
        patch.setattr("matches.services.queries.store", _Listing())
        patch.setattr(standings, "of", lambda *_: (Standing(1500, True),) * 2)
        patch.setattr(standings, "known", lambda _: {})
        patch.setattr(notices, "waiting", _waiting)
        patch.setattr(heartbeat, "ensure", lambda: None)
        patch.setattr(services, "time", TIME)
        patch.setattr("matches.services.throttling.Throttle.spend", lambda *_: None)
        yield patch


def _authenticated(token: str, **_: Any) -> Identity:
    return Identity(token, "registered", KNOWN[token].username)


def _monotonic() -> Fraction:
    # Exact, so that a whole beat later is a whole beat later.
    return Fraction(_acting[0].clock(), 1000)


TIME = SimpleNamespace(monotonic=_monotonic)
"""The acting world's, for modules that take the time."""


class _Listing:
    """The store that lists ask: the acting world's."""

    def my_matches(self, *args: Any, **kwargs: Any) -> Any:
        return _acting[0].store.my_matches(*args, **kwargs)


class _Waiter:
    """Waits in the acting world's time; a commit in it wakes."""

    def wait(self, timeout_s: float) -> bool:
        return _acting[0].pass_time(round(timeout_s * 1000))


@contextmanager
def _waiting(_match_id: UUID) -> Iterator[_Waiter]:
    yield _Waiter()


class HttpWorld:
    """One match under the API, with the face that the engine's `Watch` knows."""

    def __init__(self, wall: Wall, later: Wall, clock: Clock) -> None:
        self.walls = {1: wall, 2: later}
        self.pass_at_ms: int | None = None
        self.clock = clock
        self.store = MemoryStore(self.clock)
        self.engine = Engine(
            store=self.store, cache=Cache(4), may_beat=False, committed=self._committed
        )
        self.etags: dict[str, str] = {}
        self.last_sent: dict[str, tuple[str, bytes, str]] = {}
        self._sent = 0
        self._commits = 0
        self._act()
        self.engine.create(
            creator=ANA, key=None, match_id=ID, created=created(players=PLAYERS), secret=SECRET
        )
        for player in PLAYERS:
            self.send(0, player, Ready())

    @property
    def match(self) -> Match:
        """The match as this process knows it, in the script's time."""
        entry = self.engine.cache.get(ID)
        assert entry is not None
        match = entry.match
        return msgspec.structs.replace(match, pause_until_ms=match.pause_until_ms - BASE_MS)

    def seq(self, viewer: Viewer) -> int:
        """The viewer's last event, as far as this process knows."""
        self._act()
        entry = self.engine.cache.get(ID)
        assert entry is not None
        return entry.seq(viewer)

    def legal(self, seat: Seat) -> tuple[Action, ...]:
        """What the seat may do in the hand."""
        match = self.match
        return () if match.phase != "playing" else RULES.legal(match.hand, seat)

    def reach(self, now_ms: int) -> None:
        """Let time pass: q passes unseen where that is planned, and a sweep settles."""
        if self.pass_at_ms is not None and self.pass_at_ms <= now_ms:
            at_ms, self.pass_at_ms = self.pass_at_ms, None
            self.send(
                at_ms,
                PLAYERS[self.match.hand.turn],
                Act(RULES.legal(self.match.hand, self.match.hand.turn)[-1]),
            )
        self._set(now_ms)
        self._act()
        self.engine.settle(ID, by="sweep")

    def pass_time(self, ms: int) -> bool:
        """Let a poll wait; whether something was committed before its time was over."""
        until_ms, commits = self.clock() - BASE_MS + ms, self._commits
        if self.pass_at_ms is not None and self.pass_at_ms <= until_ms:
            self.reach(self.pass_at_ms)
        else:
            self.reach(until_ms)
        return self._commits > commits

    def send(self, at_ms: int, player: str, body: Body) -> None:
        """Let a player command something that must be possible."""
        self.reach(at_ms)
        self._sent += 1
        path, raw, key = f"{ROOT}/{PATHS[type(body)]}", raw_of(body, None), f"k{self._sent}"
        _, status, _, answer = self.ask(player, "POST", path, raw, key=key)
        assert status == 200, answer
        self.last_sent[player] = path, raw, key

    def ask(
        self,
        player: str,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        key: str = "",
        etag: str = "",
    ) -> Seen:
        """A request, and all that comes back."""
        self._act()
        headers = {"HTTP_AUTHORIZATION": f"Bearer {player}"}
        if key:
            headers["HTTP_IDEMPOTENCY_KEY"] = key
        if etag:
            headers["HTTP_IF_NONE_MATCH"] = etag
        began_ms = self.clock()
        answer = wsgi.send(method, path, body, "application/json", **headers)
        told = sorted(pair for pair in answer.headers if pair[0] != "X-Request-Id")
        took_ms = self.clock() - began_ms
        what = f"{method} {path.removeprefix('/api/v1/')} {body.decode()}"
        return what, answer.status, f"{told} after {took_ms} ms", answer.body

    def _set(self, now_ms: int) -> None:
        self.clock.ms = max(self.clock.ms, BASE_MS + now_ms)
        self.store.alive_ms = self.clock.ms

    def _act(self) -> None:
        _acting[:] = [self]
        engine_worlds._laid[0] = self.walls

    def _committed(self, entry: Entry, due: Due | None) -> None:  # noqa: ARG002
        self._commits += 1


def raw_of(body: Body, expected_seq: int | None) -> bytes:
    if isinstance(body, Act):
        sent: dict[str, Any] = {"action": msgspec.to_builtins(body.action)}
        if expected_seq is not None:
            sent["expected_seq"] = expected_seq
        return json.dumps(sent).encode()
    return b"{}"
