"""The engine's level: views, lines, clocks and answers, without anything above them."""

from __future__ import annotations

from matches.games.protocol import SeatViewer
from tests.leaks.driver import Leak, Level, Watch
from tests.leaks.engine.worlds import PROBES, SPECTATOR, Wall, World, rigged
from tests.leaks.scripts import Script

SEEN = ("view", "etag", "lines", "clocks")
"""What a watcher gets hold of without asking for anything."""


class EngineWatch(Watch[World]):
    """Compares what the viewers see, have been told, and would be answered."""

    def _compare(self) -> Leak | None:
        for viewer, count in ((SeatViewer(self.script.p), 4), (SPECTATOR, 1)):
            probes = self.chance.sample(PROBES, count)
            left, right = (world.seen(viewer, self.now_ms, probes) for world in self.worlds)
            if left != right:
                place = next(i for i, one in enumerate(left) if one != right[i])
                what = [*SEEN, *map(str, probes)][place]
                pair = left[place].decode(), right[place].decode()
                return Leak(self.seed, str(viewer), self.now_ms, what, *pair)
        return None


def _world(script: Script, wall: Wall) -> World:
    return World(wall, script.later, (SeatViewer(script.p), SPECTATOR), script.gap)


ENGINE = Level(stage=rigged, world=_world, watch=EngineWatch, outages=True)
