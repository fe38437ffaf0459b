"""How many streams and sockets a process holds, of everybody and of one player."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator

from django.conf import settings

from matches.services.errors import ServiceError

RETRY_AFTER_S = 2
"""When somebody who found all places taken may look again."""

taken: Counter[str] = Counter()
"""Streams and sockets of this process by player; the event loop is its only thread."""


@contextlib.contextmanager
def place(player: str) -> Iterator[None]:
    """Count one more while it is open; raises `ServiceError` too_many_requests where all are taken.

    `XQMJ_LIVE_STREAMS` and `XQMJ_LIVE_STREAMS_A_PLAYER` are the limits.
    """
    if (
        taken.total() >= settings.XQMJ_LIVE_STREAMS
        or taken[player] >= settings.XQMJ_LIVE_STREAMS_A_PLAYER
    ):
        raise ServiceError("too_many_requests", retry_after_s=RETRY_AFTER_S)
    taken[player] += 1
    try:
        yield
    finally:
        taken[player] -= 1
        if not taken[player]:
            del taken[player]
