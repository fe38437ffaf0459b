"""Clock controls, and the fixed times of a match, in milliseconds."""

from __future__ import annotations

import msgspec

from matches.games.protocol import Seat

FLOW = "match@1"
"""Version of the match around the hands: of every time below and of how it is charged."""

OPEN_MS = 3_600_000
"""An open seat nobody takes for so long ends the match."""
READY_MS = 30_000
"""Both seats must be ready within this time of being paired (XM-57)."""
INTERMISSION_MS = 10_000
"""The next hand is dealt after this time at the latest (XM-59)."""
GRACE_MS = 100
"""Sweeps and reads look at a deadline this much later, so that an action
stamped in time and still on its way to the log is never overtaken."""


class Control(msgspec.Struct, frozen=True):
    """A match clock: what each seat starts with, what each own turn gives back (XM-62, XM-66)."""

    name: str
    base_ms: int
    increment_ms: int


def _minutes(name: str) -> Control:
    minutes, seconds = name.split("+")
    return Control(name, int(minutes) * 60_000, int(seconds) * 1_000)


CONTROLS: dict[str, Control] = {name: _minutes(name) for name in ("1+1", "3+2", "5+5", "10+5")}
"""The controls of XM-62 by their names."""


class Due(msgspec.Struct, frozen=True):
    """When the table itself has something to do.

    `at_ms` is the instant that the event will carry. A `deadline` lets an
    action stamped at the millisecond before still stand (XM-67); `seat` is the
    seat it runs against, None where it runs against several.
    """

    at_ms: int
    deadline: bool
    seat: Seat | None = None

    @property
    def look_at_ms(self) -> int:
        """When whoever does not play is to look: a deadline is left its grace."""
        return self.at_ms + GRACE_MS if self.deadline else self.at_ms


class Gap(msgspec.Struct, frozen=True):
    """A time in which the service could not be reached."""

    from_ms: int
    until_ms: int
