"""The level of HTTP: all that the API tells of a match, to its seats and to strangers."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from matches.domain.commands import Act, Body, Join, Ready
from matches.games.protocol import SeatViewer, Viewer
from tests.leaks.driver import Leak, Level, Watch
from tests.leaks.engine.worlds import PLAYERS, PROBES, SPECTATOR, Wall
from tests.leaks.http.worlds import BASE_MS, PATHS, ROOT, HttpWorld, Seen, parlour, raw_of
from tests.leaks.scripts import Script, Step
from tests.support.memory_store import Clock
from tests.support.sitting import EVE


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
        self.probes = chance.sample(PROBES, 1)
        self.behind = chance.choice((None, 0, 1))
        self.after = chance.randrange(8)

    def at(self, world: HttpWorld) -> list[Seen]:
        """What the watcher gets hold of."""
        seen = [read(world) for read in self.reads]
        seq = self._seq(world)
        for number, probe in enumerate(self.probes):
            if self._changes_nothing(world, probe):
                expected = None if self.behind is None else max(0, seq - self.behind)
                path, raw = f"{ROOT}/{PATHS[type(probe)]}", raw_of(probe, expected)
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


class HttpWatch(Watch[HttpWorld]):
    """Asks over HTTP, and now and then waits for the next event."""

    def _compare(self) -> Leak | None:
        stranger = (SPECTATOR,) if self.chance.randrange(3) == 0 else ()
        for viewer in (SeatViewer(self.script.p), *stranger):
            look = Look(self.chance, viewer)
            leak = self._difference(viewer, *(look.at(world) for world in self.worlds))
            if leak is not None:
                return leak
        return None

    def _between(self, step: Step | None) -> Leak | None:
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


def _world(script: Script, wall: Wall) -> HttpWorld:
    return HttpWorld(wall, script.later, Clock(BASE_MS))


HTTP = Level(stage=parlour, world=_world, watch=HttpWatch, outages=False)
