"""Whoever shows a good token is there: polls, streams and commands alike (XM-87).

A request only notes it; other threads write it down. Whoever comes back after a
while is written down at once, everybody else every few seconds and together, so
that what is on record may be a little older than what a player did last.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence

from matches.eventstore import presence
from matches.services.outbox import Outbox

FRESH_S = 3.0
"""A player who was noted sooner before is not noted again."""
AWAY_S = 8.0
"""Whoever was not noted for longer comes back: somebody may be about to claim its absence."""
TOGETHER_S = 1.0
"""The others are written down once in so long."""
UNCERTAIN_MS = 5_000
"""So long after the instant on record a player may still have done something: longer than
`FRESH_S` and `TOGETHER_S` together."""
REMEMBERED = 20_000
STALE_S = 20.0
"""A note that waited longer for the database is dropped: by then there is a gap in service."""


class Noted:
    """Who was noted of late in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._at_s: OrderedDict[str, float] = OrderedDict()
        self._back: Outbox[str] = Outbox("presence", self._write, stale_s=STALE_S)
        self._there: Outbox[str] = Outbox(
            "presence",
            self._write,
            stale_s=STALE_S,
            capacity=REMEMBERED,
            linger_s=TOGETHER_S,
            most_at_once=REMEMBERED,
        )

    def note(self, player: str) -> None:
        """The player is there; returns at once."""
        now_s = time.monotonic()
        away_s = now_s - self._at_s.get(player, now_s - AWAY_S)
        if away_s < FRESH_S:
            return
        with self._lock:
            self._at_s[player] = now_s
            self._at_s.move_to_end(player)
            while len(self._at_s) > REMEMBERED:
                self._at_s.popitem(last=False)
        (self._back if away_s >= AWAY_S else self._there).put(player)

    def _write(self, players: Sequence[str]) -> None:
        try:
            presence.note(players)
        except Exception:
            # Whoever is still there is noted again with the next request, and as coming back.
            with self._lock:
                for player in players:
                    self._at_s.pop(player, None)
            raise

    def flush(self) -> None:
        """Write down what was noted: for an orderly end."""
        self._back.close()
        self._there.close()


_noted = Noted()


def note(player: str) -> None:
    """The player (id in hex) is there; costs the caller next to nothing."""
    _noted.note(player)


def flush() -> None:
    """Write down at once what was noted, and note everybody anew."""
    global _noted
    noted, _noted = _noted, Noted()
    noted.flush()


def _forget() -> None:
    """After a fork: the threads are the parent's."""
    global _noted  # noqa: PLW0603 - one a process is the point
    _noted = Noted()


os.register_at_fork(after_in_child=_forget)
