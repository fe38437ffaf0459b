"""The level of WebSockets: what they send to a seat and to a stranger, and when.

The seat plays through its socket, and now and then asks for what it may not do.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from matches.domain.commands import Body
from matches.eventstore import presence
from matches.games.protocol import SeatViewer, Viewer
from matches.live import connections
from tests.leaks.driver import Leak, Level
from tests.leaks.engine.worlds import Wall
from tests.leaks.http.worlds import ID, PATHS, raw_of
from tests.leaks.live.level import LiveWatch
from tests.leaks.live.worlds import Client, LiveWorld, parlour, player_of
from tests.leaks.scripts import Script

REFUSED: tuple[dict[str, Any], ...] = (
    {"command": "act", "body": {"action": {"type": "win"}, "expected_seq": 1}},
    {"command": "ready"},
    {"command": "join"},
    {"command": "claim-absence"},
    {"command": "fly"},
)
"""What nobody may do in a hand; a claim needs an opponent who has gone."""


class SocketWorld(LiveWorld):
    """One match, with a socket of each viewer that has opened one."""

    _said = 0

    def open(self, viewer: Viewer, *, after: int) -> None:
        """Open the viewer's socket after a line, 0 for a view of it all."""
        self.close(viewer)
        scope = {
            "type": "websocket",
            "path": f"/live/v1/matches/{ID.hex}/events",
            "query_string": f"after={after}".encode() if after else b"",
            "headers": [(b"authorization", f"Bearer {player_of(viewer)}".encode())],
            "subprotocols": [],
        }
        self._clients[viewer] = Client(
            self._loop, scope, {"type": "websocket.connect"}, {"type": "websocket.disconnect"}
        )
        self.listen()

    def send(self, at_ms: int, player: str, body: Body) -> None:
        """Let a player command something by its socket, where it has one."""
        viewers = [one for one in self._clients if player_of(one) == player]
        if not viewers:
            super().send(at_ms, player, body)
            return
        self.reach(at_ms)
        self.say(
            viewers[0],
            {"command": PATHS[type(body)], "body": json.loads(raw_of(body, None))},
        )

    def say(self, viewer: Viewer, frame: dict[str, Any]) -> None:
        """Let a viewer send a command, whatever comes of it."""
        # Not the world's own count: q's commands, which are hidden, are in that one.
        self._said += 1
        text = json.dumps({"id": f"s{self._said}", **frame})
        self._clients[viewer].say({"type": "websocket.receive", "text": text})
        self.listen()


class SocketWatch(LiveWatch):
    """Asks now and then for what is refused, or to be shown all of the match anew."""

    def _compare(self) -> Leak | None:
        if self.chance.randrange(6) == 0:
            frame = self.chance.choice(REFUSED)
            for world in self.worlds:
                assert isinstance(world, SocketWorld)
                world.say(SeatViewer(self.script.p), frame)
        if self.chance.randrange(8) == 0:
            viewer = self.chance.choice(self.viewers)
            leak = self._difference()
            for world in self.worlds:
                world.open(viewer, after=0)
            return leak or self._difference()
        return super()._compare()


@contextmanager
def _parlour() -> Iterator[pytest.MonkeyPatch]:
    with parlour() as patch:
        # That limit goes by a clock that no world has.
        patch.setattr(connections, "FRAMES_PER_S", 1_000_000)
        # A claim looks at when the other was last there; no world keeps that.
        patch.setattr(presence, "seen_ms", lambda _: None)
        yield patch


def _world(script: Script, wall: Wall) -> LiveWorld:
    return SocketWorld(wall, script.later)


SOCKETS = Level(stage=_parlour, world=_world, watch=SocketWatch, outages=False)
