"""A match under the API and under the live process, on one clock of its own.

A stream stays open while the match goes on. What it was sent, and when, is all
that its client can know, so both are heard.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest

from matches.domain.clock import Due
from matches.domain.commands import Body
from matches.games.protocol import SeatViewer, Viewer
from matches.live import following, routing
from matches.services import notices
from matches.services.cache import Entry
from tests.leaks.engine.worlds import PLAYERS, Wall
from tests.leaks.http import worlds as http_worlds
from tests.leaks.http.worlds import BASE_MS, ID, HttpWorld
from tests.leaks.live.loop import StillLoop
from tests.support.memory_store import Clock
from tests.support.sitting import EVE

KEEP_ALIVE_S = 0.5
"""An empty line may then go out within a pause, in which the other seat passes unseen."""

Heard = tuple[int, str]
"""When something was sent, and all of it."""


@contextmanager
def parlour() -> Iterator[pytest.MonkeyPatch]:
    """Put the worlds where the live process has its notices and its clock as well."""
    with http_worlds.parlour() as patch:
        patch.setattr(notices, "watching", _watching)
        patch.setattr(following, "time", http_worlds.TIME)
        patch.setattr(following, "KEEP_ALIVE_S", KEEP_ALIVE_S)
        patch.setattr(following, "heads", _Unknown())
        yield patch


class _Unknown:
    """No head is known: every look is one at the log."""

    @contextmanager
    def followed(self, _match_id: UUID) -> Iterator[None]:
        yield

    def may_have_moved(self, _match_id: UUID, _version: int) -> bool:
        return True


@contextmanager
def _watching(_match_id: UUID, call: Callable[[], None]) -> Iterator[None]:
    world = http_worlds._acting[0]
    assert isinstance(world, LiveWorld)
    world.calls.append(call)
    try:
        yield
    finally:
        world.calls.remove(call)


class Client:
    """One connection to the live process. `heard` is what it was sent since that was last taken."""

    def __init__(
        self,
        loop: StillLoop,
        scope: Mapping[str, Any],
        first: Mapping[str, Any],
        last: Mapping[str, Any],
    ) -> None:
        self._last = last
        self.heard: list[Heard] = []
        self._loop = loop
        self._said: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
        self.say(first)
        self._served = loop.create_task(
            routing.application(dict(scope), self._said.get, self._hear)
        )

    async def _hear(self, message: Mapping[str, Any]) -> None:
        self.heard.append((round(self._loop.time() * 1000), str(sorted(message.items()))))

    def taken(self) -> list[Heard]:
        """What was heard; it is then gone."""
        heard, self.heard = self.heard, []
        return heard

    def say(self, message: Mapping[str, Any]) -> None:
        """Send something."""
        self._said.put_nowait(message)

    def leave(self) -> None:
        """Hang up."""
        self.say(self._last)
        self._loop.run_until_complete(self._served)


def player_of(viewer: Viewer) -> str:
    """Whose token a viewer has."""
    return PLAYERS[viewer.seat] if isinstance(viewer, SeatViewer) else EVE


class LiveWorld(HttpWorld):
    """One match, with a stream of each viewer that has opened one."""

    def __init__(self, wall: Wall, later: Wall) -> None:
        clock = Clock(BASE_MS)
        self.calls: list[Callable[[], None]] = []
        self._loop = StillLoop(clock, self._moved)
        self._clients: dict[Viewer, Client] = {}
        super().__init__(wall, later, clock)

    def reach(self, now_ms: int) -> None:
        """Let time pass for the streams as well."""
        super().reach(now_ms)
        self.listen()

    def send(self, at_ms: int, player: str, body: Body) -> None:
        """Let the streams tell of it."""
        super().send(at_ms, player, body)
        self.listen()

    def open(self, viewer: Viewer, *, after: int) -> None:
        """Open the viewer's stream after a line, in the place of one that it has."""
        self.close(viewer)
        scope = {
            "type": "http",
            "method": "GET",
            "path": f"/live/v1/matches/{ID.hex}/events",
            "query_string": f"after={after}".encode(),
            "headers": [(b"authorization", f"Bearer {player_of(viewer)}".encode())],
        }
        self._clients[viewer] = Client(
            self._loop, scope, {"type": "http.request"}, {"type": "http.disconnect"}
        )
        self.listen()

    def heard(self, viewer: Viewer) -> list[Heard]:
        """What the viewer's stream was sent since this was last asked."""
        return self._clients[viewer].taken()

    def close(self, viewer: Viewer) -> None:
        """End the viewer's stream, if it has one."""
        client = self._clients.pop(viewer, None)
        if client is not None:
            self._act()
            client.leave()

    def end(self) -> None:
        """End everything that is open."""
        for viewer in list(self._clients):
            self.close(viewer)
        self._loop.close()

    def listen(self) -> None:
        """Let the streams do what is to be done by now."""
        self._act()
        self._loop.run_to(self.clock())

    def _set(self, now_ms: int) -> None:
        self._act()
        self._loop.run_to(BASE_MS + now_ms)

    def _moved(self) -> None:
        self.store.alive_ms = self.clock()

    def _committed(self, entry: Entry, due: Due | None) -> None:
        super()._committed(entry, due)
        for call in self.calls:
            call()
