"""The level of live streams: what they send to a seat and to a stranger, and when."""

from __future__ import annotations

from matches.games.protocol import SeatViewer, Viewer
from tests.leaks.driver import Leak, Level, Watch
from tests.leaks.engine.worlds import SPECTATOR, Wall
from tests.leaks.live.worlds import LiveWorld, parlour
from tests.leaks.scripts import Script


class LiveWatch(Watch[LiveWorld]):
    """Listens to streams that stay open, and now and then opens one anew from some line on."""

    def run(self) -> Leak | None:
        """Open the streams, play, and end them."""
        self.viewers: tuple[Viewer, ...] = (SeatViewer(self.script.p), SPECTATOR)
        try:
            for viewer in self.viewers:
                self._open(viewer, behind=100)
            return super().run()
        finally:
            for world in self.worlds:
                world.end()

    def _compare(self) -> Leak | None:
        if self.chance.randrange(8) == 0:
            viewer = self.chance.choice(self.viewers)
            leak = self._difference()
            # One that is ahead of the match is refused; another takes its place.
            for behind in (-1, self.chance.randrange(8)):
                self._open(viewer, behind=behind)
                leak = leak or self._difference()
            return leak
        return self._difference()

    def _open(self, viewer: Viewer, *, behind: int) -> None:
        for world in self.worlds:
            world.open(viewer, after=max(0, world.seq(viewer) - behind))

    def _difference(self) -> Leak | None:
        for viewer in self.viewers:
            left, right = (world.heard(viewer) for world in self.worlds)
            if left != right:
                pair = str(left), str(right)
                return Leak(self.seed, str(viewer), self.now_ms, "stream", *pair)
        return None


def _world(script: Script, wall: Wall) -> LiveWorld:
    return LiveWorld(wall, script.later)


LIVE = Level(stage=parlour, world=_world, watch=LiveWatch, outages=False)
