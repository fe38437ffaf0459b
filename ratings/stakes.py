"""What was known of the players of a match when it began, and what each result would change."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

import msgspec

from ratings import glicko2, source
from ratings.glicko2 import NEWCOMER, Entrant, Glicko
from ratings.models import CatchUp, RatingEvent
from ratings.services import position

LONGEST_MS = 7 * 86_400_000
"""No match lasts so long."""

_WON, _DREW, _LOST = (1, 2), (1, 1), (2, 1)
"""Places of a seat and of the other one."""


class Strength(msgspec.Struct, frozen=True):
    """A player at an instant: as last rated before it, and the time since then."""

    glicko: Glicko
    idle_ms: int

    @property
    def now(self) -> Glicko:
        """With the deviation that the time has widened."""
        return glicko2.grow(self.glicko, idle_ms=self.idle_ms)


class Stake(msgspec.Struct, frozen=True):
    """The share of a point that a seat may expect, and what each result would add to its rating."""

    expected: Decimal
    win: Decimal
    draw: Decimal
    loss: Decimal


def known_until(players: Sequence[UUID], *, at_ms: int) -> bool:
    """Tell whether every match of the players that was over by the instant has been rated."""
    return not source.ended_after(
        position(CatchUp.objects.get()),
        players=players,
        since_ms=at_ms - LONGEST_MS,
        until_ms=at_ms,
    )


def strength_at(player: UUID, pool: str, *, at_ms: int) -> Strength:
    """Return how strong the player was, by the matches that had ended by the instant."""
    log = RatingEvent.objects.filter(player=player, pool=pool, at_ms__lte=at_ms)
    last = log.order_by("-seq").first()
    if last is None:
        return Strength(NEWCOMER, 0)
    return Strength(last.entry.after, at_ms - last.at_ms)


def stake(mine: Strength, other: Strength) -> Stake:
    """Return what a match against the other is about.

    >>> stake(Strength(NEWCOMER, 0), Strength(NEWCOMER, 0)).win
    Decimal('162.310894')
    """
    win, draw, loss = (_gain(mine, other, places) for places in (_WON, _DREW, _LOST))
    return Stake(glicko2.expected(mine.now, other.now), win, draw, loss)


def _gain(mine: Strength, other: Strength, places: tuple[int, int]) -> Decimal:
    seats = [
        Entrant(one.glicko, one.idle_ms, place)
        for one, place in zip((mine, other), places, strict=True)
    ]
    return glicko2.rate(seats)[0].rating - mine.glicko.rating
