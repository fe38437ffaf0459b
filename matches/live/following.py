"""One viewer's lines of a match as they come: what streams and sockets both send.

A notice only wakes whoever follows; what is sent comes from the log, through
the same service and the same redaction as REST. A lost notice is healed by a
look at the log every second.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterator
from uuid import UUID

from matches.domain.visibility import Line
from matches.live.asking import Asker
from matches.services import accounts, matches, notices
from matches.services.errors import ServiceError
from matches.services.heads import heads
from matches.services.viewers import viewer_of

KEEP_ALIVE_S = 15.0
"""An empty line goes out after so long without an event."""
LOOK_S = 1.0
"""The log is looked at this often: a notice may be lost."""
TRUSTED_S = 3.0
"""A token looked up longer ago is asked for again: a revoked one is then found within 5 s."""

Send = Callable[[tuple[Line, ...]], Awaitable[None]]
"""Sends lines; none of them is a sign of life."""


@contextlib.contextmanager
def woken_by(match_id: UUID) -> Iterator[asyncio.Event]:
    """An event of the running loop that every notice of the match sets."""
    woken = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wake() -> None:
        loop.call_soon_threadsafe(woken.set)

    with notices.watching(match_id, wake), heads.followed(match_id):
        yield woken


async def begin(match_id: UUID, asker: Asker, after: int) -> matches.Events:
    """What there is after a line; raises `ServiceError`, also seq_ahead."""
    found = await _events(match_id, asker, after)
    seq = found.entry.seq(viewer_of(found.entry.match, asker.player))
    if after > seq:
        raise ServiceError("seq_ahead", {"seq": seq})
    return found


async def follow(found: matches.Events, asker: Asker, woken: asyncio.Event, send: Send) -> None:
    """Send what comes after what was found, until the match is over.

    Its own looks and its signs of life keep their beat whatever wakes it between
    them: else a pass that only the other seat knows of would move them. Raises
    `ServiceError` bad_token when the token is no longer good.
    """
    began_s = sent_s = time.monotonic()
    while found.entry.match.ended is None:
        look_s = LOOK_S - (time.monotonic() - began_s) % LOOK_S
        own_look = not await _told(woken, look_s)
        now_s = time.monotonic()
        if own_look and _has_all(found, asker):
            if now_s - sent_s >= KEEP_ALIVE_S:
                sent_s = now_s
                await send(())
            continue
        try:
            found = await _events(found.entry.match_id, asker, found.seq)
        except ServiceError as error:
            if error.code == "bad_token":
                raise
            # It has begun already: what fails now is looked at again in a second.
        else:
            if found.events:
                sent_s = now_s
                await send(found.events)
        if own_look and now_s - sent_s >= KEEP_ALIVE_S:
            sent_s = now_s
            await send(())


def _has_all(found: matches.Events, asker: Asker) -> bool:
    """Whether a look would show nothing, as far as is known without a trip."""
    entry = found.entry
    return not heads.may_have_moved(entry.match_id, entry.version) and accounts.still_good(
        asker.token, asker.player, trusted_s=TRUSTED_S
    )


async def _told(woken: asyncio.Event, within_s: float) -> bool:
    """Whether a notice came within the time."""
    try:
        await asyncio.wait_for(woken.wait(), within_s)
    except TimeoutError:
        return False
    woken.clear()
    return True


async def _events(match_id: UUID, asker: Asker, after: int) -> matches.Events:
    return await asyncio.to_thread(_looked, match_id, asker, after)


def _looked(match_id: UUID, asker: Asker, after: int) -> matches.Events:
    """What there is after a line, for a token that is still good."""
    accounts.authenticate(asker.token, trusted_s=TRUSTED_S)
    return matches.events(match_id=match_id, player=asker.player, after=after)
