"""The pairs of worlds of the engine's test, looked at over HTTP.

Each world is a log in memory under the whole stack above it: gate, views,
services, engine. Its clock is the test's, so that both worlds have the same
instants; a long poll waits in that time, too. Compared is all that HTTP tells:
status, headers (but for the request's own id), body, and how long a poll took.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import msgspec
import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.test import RequestFactory

from matches.domain.clock import Due
from matches.domain.commands import Act, Body, Join, Leave, Ready, Resign
from matches.domain.state import Match
from matches.games.protocol import Action, Seat, SeatViewer, Viewer
from matches.services import accounts, execute, heartbeat, notices, people
from matches.services import matches as services
from matches.services.accounts import Identity
from matches.services.cache import Cache, Entry
from matches.services.engine import Engine
from matches.services.people import PlayerRef
from tests.leaks.engine import worlds as engine_worlds
from tests.leaks.engine.worlds import PLAYERS, RULES, SPECTATOR, Leak, Pair, Tally, Wall
from tests.support.memory_store import Clock, MemoryStore
from tests.support.sitting import ANA, BEN, EVE, MATCH_ID, SECRET, created

BASE_MS = 1_700_000_000_000
ID = UUID(bytes=MATCH_ID)
ROOT = f"/api/v1/matches/{ID.hex}"
KNOWN = {
    public_id: PlayerRef(public_id, name, "registered")
    for public_id, name in ((ANA, "ana"), (BEN, "ben"), (EVE, "eve"))
}
_PATHS: dict[type, str] = {
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
    with engine_worlds.rigged(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "authenticate", _authenticated)
        patch.setattr(people, "by_ids", lambda ids: {one: KNOWN[one] for one in ids})
        patch.setattr(execute, "engine", lambda: _acting[0].engine)
        patch.setattr("matches.services.queries.store", _Listing())
        patch.setattr(notices, "waiting", _waiting)
        patch.setattr(heartbeat, "ensure", lambda: None)
        patch.setattr(services, "time", SimpleNamespace(monotonic=_monotonic))
        patch.setattr("matches.api.throttling.Throttle.spend", lambda *_: None)
        yield patch


def _authenticated(token: str) -> Identity:
    return Identity(token, "registered", KNOWN[token].username)


def _monotonic() -> float:
    return _acting[0].clock() / 1000


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

    def __init__(self, wall: Wall, later: Wall) -> None:
        self.walls = {1: wall, 2: later}
        self.pass_at_ms: int | None = None
        self.clock = Clock(BASE_MS)
        self.store = MemoryStore(self.clock)
        self.engine = Engine(
            store=self.store, cache=Cache(4), may_beat=False, committed=self._committed
        )
        self.etags: dict[str, str] = {}
        self.last_sent: dict[str, tuple[str, bytes, str]] = {}
        self._sent = 0
        self._commits = 0
        self._handler = WSGIHandler()
        self._make = RequestFactory()
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
        path, raw, key = f"{ROOT}/{_PATHS[type(body)]}", _raw(body, None), f"k{self._sent}"
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
        request = self._make.generic(method, path, body, "application/json", **headers)  # type: ignore[arg-type]
        began_ms = self.clock()
        answer: Any = self._handler.get_response(request)
        told = sorted(pair for pair in answer.items() if pair[0] != "X-Request-Id")
        took_ms = self.clock() - began_ms
        what = f"{method} {path.removeprefix('/api/v1/')} {body.decode()}"
        return what, answer.status_code, f"{told} after {took_ms} ms", answer.content

    def _set(self, now_ms: int) -> None:
        self.clock.ms = max(self.clock.ms, BASE_MS + now_ms)
        self.store.alive_ms = self.clock.ms

    def _act(self) -> None:
        _acting[:] = [self]
        engine_worlds._laid[0] = self.walls

    def _committed(self, entry: Entry, due: Due | None) -> None:  # noqa: ARG002
        self._commits += 1


def _raw(body: Body, expected_seq: int | None) -> bytes:
    if isinstance(body, Act):
        sent: dict[str, Any] = {"action": msgspec.to_builtins(body.action)}
        if expected_seq is not None:
            sent["expected_seq"] = expected_seq
        return json.dumps(sent).encode()
    return b"{}"


class Look:
    """What one watcher asks at one instant; the same in both worlds."""

    def __init__(self, chance: random.Random, viewer: Viewer) -> None:
        self.player = PLAYERS[viewer.seat] if isinstance(viewer, SeatViewer) else EVE
        self.viewer = viewer
        reads: list[Callable[[HttpWorld], Seen]] = [
            self._view,
            self._again,
            self._feed,
            self._list,
            self._replay,
            self._repeated,
        ]
        self.reads = chance.sample(reads, chance.choice((1, 1, 2)))
        self.probes = chance.sample(engine_worlds.PROBES, 1)
        self.behind = chance.choice((None, 0, 1))
        self.after = chance.randrange(8)

    def at(self, world: HttpWorld) -> list[Seen]:
        """What the watcher gets hold of."""
        seen = [read(world) for read in self.reads]
        seq = self._seq(world)
        for number, probe in enumerate(self.probes):
            if self._changes_nothing(world, probe):
                expected = None if self.behind is None else max(0, seq - self.behind)
                path, raw = f"{ROOT}/{_PATHS[type(probe)]}", _raw(probe, expected)
                seen.append(world.ask(self.player, "POST", path, raw, key=f"p{number}-{seq}"))
        return seen

    def _changes_nothing(self, world: HttpWorld, probe: Body) -> bool:
        if not isinstance(self.viewer, SeatViewer):
            return True
        if isinstance(probe, Act):
            return probe.action not in world.legal(self.viewer.seat)
        return isinstance(probe, Join) or (
            isinstance(probe, Ready) and world.match.phase != "intermission"
        )

    def _seq(self, world: HttpWorld) -> int:
        return world.seq(self.viewer)

    def _view(self, world: HttpWorld) -> Seen:
        return world.ask(self.player, "GET", ROOT)

    def _again(self, world: HttpWorld) -> Seen:
        found = world.ask(self.player, "GET", ROOT, etag=world.etags.get(self.player, '"none"'))
        world.etags[self.player] = dict(eval(found[2].partition(" after ")[0]))["ETag"]  # noqa: S307
        return found

    def _feed(self, world: HttpWorld) -> Seen:
        after = max(0, self._seq(world) - self.after)
        return world.ask(self.player, "GET", f"{ROOT}/events?after={after}")

    def _list(self, world: HttpWorld) -> Seen:
        return world.ask(self.player, "GET", "/api/v1/matches?limit=5")

    def _replay(self, world: HttpWorld) -> Seen:
        if world.match.ended is not None:
            return self._view(world)  # from now on every tile is open (XM-79)
        return world.ask(self.player, "GET", f"{ROOT}/replay")

    def _repeated(self, world: HttpWorld) -> Seen:
        if self.player not in world.last_sent:
            return self._view(world)
        path, raw, key = world.last_sent[self.player]
        return world.ask(self.player, "POST", path, raw, key=key)


class HttpWatch(engine_worlds.Watch):
    """The engine's `Watch`, which asks over HTTP, and now and then waits for the next event."""

    worlds: tuple[HttpWorld, HttpWorld]  # type: ignore[assignment]

    def _compare(self) -> Leak | None:
        stranger = (SPECTATOR,) if self.chance.randrange(3) == 0 else ()
        for viewer in (SeatViewer(self.script.p), *stranger):
            look = Look(self.chance, viewer)
            leak = self._difference(viewer, *(look.at(world) for world in self.worlds))
            if leak is not None:
                return leak
        return None

    def _between(self, step: engine_worlds.Step | None) -> Leak | None:
        """Let p poll until a while after the pause's end, where nothing is to happen before."""
        pause_ms = self.worlds[0].match.pause_until_ms
        free = step is None or not step.answer
        until_ms = pause_ms + 2_000 if step is None else step.at_ms
        if not free or until_ms - self.now_ms < 3_500 or self.chance.randrange(2):
            return super()._between(step)
        self._plan_passes(pause_ms)
        viewer = SeatViewer(self.script.p)
        leak = self._difference(viewer, *(self._polled(world) for world in self.worlds))
        self.now_ms = max(world.clock() - BASE_MS for world in self.worlds)
        self._reach(max(self.now_ms, until_ms))
        return leak

    def _polled(self, world: HttpWorld) -> list[Seen]:
        player = PLAYERS[self.script.p]
        seq = world.seq(SeatViewer(self.script.p))
        return [world.ask(player, "GET", f"{ROOT}/events?after={seq}&wait=3")]

    def _difference(
        self, viewer: Viewer, left: Sequence[Seen], right: Sequence[Seen]
    ) -> Leak | None:
        for one, other in zip(left, right, strict=True):
            if one != other:
                what = one[0] if one[0] == other[0] else f"{one[0]} or {other[0]}"
                pair = f"{one[1:]}", f"{other[1:]}"
                return Leak(self.seed, str(viewer), self.now_ms, what, *pair)
        return None


def pair(seed: int) -> Pair:
    """Make one pair and compare it. Needs `parlour`."""
    chance = random.Random(seed)
    p, wall = Seat(chance.randrange(2)), engine_worlds.shuffled(chance)
    later = engine_worlds.shuffled(chance)
    script = engine_worlds.Scout(chance, p, wall, later).script()
    other = engine_worlds.other_wall(chance, script, wall) if script.gap is None else None
    if other is None:
        return Pair(made=False, options=False, leak=None)
    pair_of = HttpWorld(wall, later), HttpWorld(other[0], later)
    leak = HttpWatch(seed, chance, script, pair_of).run()  # type: ignore[arg-type]
    return Pair(made=True, options=other[1], leak=leak)


def tally(first_seed: int, pairs: int) -> Tally:
    """Make so many pairs, from a seed on; ends with the first leak."""
    found = Tally()
    seed = first_seed
    while found.pairs < pairs and not found.leaks:
        made = pair(seed)
        seed += 1
        found.pairs += made.made
        found.options += made.options
        if made.leak is not None:
            found.leaks.append(made.leak)
    return found
