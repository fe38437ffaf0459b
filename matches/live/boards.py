"""What changes for many listeners at once: one look a beat for all of them.

A board is what one listener may know, as things by kind and id. Whoever listens
is sent the whole of it once, and then what has become different. Nobody's
things are piled up: whoever is slow is told the newest.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import msgspec
from django.db import InterfaceError, OperationalError

from matches.eventstore.pool import Unavailable
from matches.live.asking import Asker
from matches.live.following import KEEP_ALIVE_S, TRUSTED_S
from matches.live.threads import in_thread
from matches.services import accounts
from matches.services.errors import ServiceError

LOG = logging.getLogger("xqmj.live")

BEAT_S = 1.0
"""How often all is looked at."""

Key = tuple[str, str]
Things = Mapping[Key, Any]
Look = Callable[[Collection[str]], Mapping[str, Things]]
"""The things of each of these listeners' boards."""


class Thing(msgspec.Struct, frozen=True):
    """What a thing is now; `data` null: it is no more."""

    kind: str
    id: str
    data: Any


class Snapshot(msgspec.Struct, frozen=True):
    """All things there are."""

    snapshot: tuple[Thing, ...]


Said = Snapshot | Thing
Send = Callable[[tuple[Said, ...]], Awaitable[None]]
"""Sends lines; none of them is a sign of life."""


class Listener:
    """Somebody who listens: `things` as of the last look, None before the first."""

    def __init__(self, asker: Asker, board: str) -> None:
        self.asker = asker
        self.board = board
        self.things: Things | None = None
        self.is_known = True
        self.looked = asyncio.Event()


class Boards:
    """The boards of one kind in this process; the event loop is its only thread."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._listeners: set[Listener] = set()
        self._beating: asyncio.Task[None] | None = None

    async def follow(self, asker: Asker, board: str, send: Send) -> None:
        """Send a snapshot of a board and then its changes; raises `ServiceError` bad_token."""
        with self._listening(Listener(asker, board)) as listener:
            told: Things = {}
            sent_s: float | None = None
            while True:
                await listener.looked.wait()
                listener.looked.clear()
                if not listener.is_known:
                    raise ServiceError("bad_token")
                now_s, things = time.monotonic(), listener.things
                if things is None:
                    continue
                if sent_s is None:
                    await send((Snapshot(tuple(_changed({}, things))),))
                    sent_s = now_s
                elif changed := tuple(_changed(told, things)):
                    await send(changed)
                    sent_s = now_s
                elif now_s - sent_s >= KEEP_ALIVE_S:
                    await send(())
                    sent_s = now_s
                told = things

    @contextlib.contextmanager
    def _listening(self, listener: Listener) -> Iterator[Listener]:
        self._listeners.add(listener)
        if self._beating is None:
            self._beating = asyncio.create_task(self._beat())
        try:
            yield listener
        finally:
            self._listeners.discard(listener)
            if not self._listeners and self._beating is not None:
                self._beating.cancel()
                self._beating = None

    async def _beat(self) -> None:
        while True:
            began_s = time.monotonic()
            listeners = list(self._listeners)
            try:
                found, unknown = await in_thread(self._looked, listeners)
            except (ServiceError, Unavailable, OperationalError, InterfaceError):
                # The database is away: the next look tells all of it.
                pass
            except Exception:
                LOG.exception("a stream failed")
            else:
                for listener in listeners:
                    listener.things = found.get(listener.board, {})
                    listener.is_known = listener not in unknown
                    listener.looked.set()
            await asyncio.sleep(max(0.0, began_s + BEAT_S - time.monotonic()))

    def _looked(
        self, listeners: Iterable[Listener]
    ) -> tuple[Mapping[str, Things], frozenset[Listener]]:
        """The boards that are listened to, and the listeners whose tokens are no longer good."""
        unknown = frozenset(one for one in listeners if not _is_known(one))
        return self._look({one.board for one in listeners if one not in unknown}), unknown


def _is_known(listener: Listener) -> bool:
    try:
        accounts.authenticate(listener.asker.token, trusted_s=TRUSTED_S)
    except ServiceError as error:
        if error.code != "bad_token":
            raise
        return False
    return True


def _changed(before: Things, now: Things) -> Iterator[Thing]:
    """What is other than before, then what is no more."""
    for (kind, name), data in now.items():
        if before.get((kind, name)) != data:
            yield Thing(kind, name, data)
    for kind, name in before.keys() - now.keys():
        yield Thing(kind, name, None)
