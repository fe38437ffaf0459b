"""What matches are told of ratings, which they do not know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from uuid import UUID

from matches.services.ports import RatedChange, Standing
from ratings import selectors
from ratings.glicko2 import is_provisional
from ratings.pools import UnknownControl, pool_of
from ratings.selectors import rating_in, ratings_in_all
from ratings.stakes import Strength, known_until, stake, strength_at

EXPORTED = 10_000
"""So many changes of one pool go into a player's own data, the newest."""


def rating_of(*, player: str, ruleset: str, control: str) -> int | None:
    """The player's rating in the pool of the ruleset and control, in whole points; None: no pool.

    Whoever has no rated match there yet has a newcomer's.
    """
    try:
        pool = pool_of(ruleset=ruleset, control=control)
    except UnknownControl:
        return None
    return round(rating_in(UUID(hex=player), pool.key))


def ratings_of(players: Collection[str], /) -> dict[str, dict[str, int]]:
    """The players' ratings in whole points by pool, as `matches.services.ports.RatingsOf` says."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for player, pool, rating in ratings_in_all([UUID(hex=one) for one in players]):
        found[player.hex][pool] = round(rating)
    return found


def rated_changes(*, player: str) -> tuple[RatedChange, ...]:
    """Every change of the player's ratings, as `matches.services.ports.RatedChanges` says."""
    return tuple(
        RatedChange(
            pool, one.match_id.hex, one.at_ms, str(one.before.rating), str(one.after.rating)
        )
        for pool in (shown.pool for shown in selectors.ratings_of(UUID(hex=player)))
        for one in selectors.history(UUID(hex=player), pool, before_seq=None, limit=EXPORTED)[0]
    )


def at_start(
    *, players: tuple[str | None, ...], ruleset: str, control: str, rated: bool, at_ms: int
) -> tuple[Standing | None, ...] | None:
    """The standings of a match's seats when it began, as `matches.services.ports.AtStart` says."""
    try:
        pool = pool_of(ruleset=ruleset, control=control)
    except UnknownControl:
        return (None,) * len(players)
    ids = [None if player is None else UUID(hex=player) for player in players]
    if not known_until([one for one in ids if one is not None], at_ms=at_ms):
        return None
    found = [None if one is None else strength_at(one, pool.key, at_ms=at_ms) for one in ids]
    others = reversed(found) if rated else (None,) * len(found)
    return tuple(
        None if mine is None else _standing(mine, other)
        for mine, other in zip(found, others, strict=True)
    )


def _standing(mine: Strength, other: Strength | None) -> Standing:
    """How strong one is, and against the other of a rated match what is at stake."""
    rating, provisional = round(mine.glicko.rating), is_provisional(mine.now)
    if other is None:
        return Standing(rating, provisional)
    odds = stake(mine, other)
    return Standing(
        rating,
        provisional,
        expected=str(odds.expected),
        win=round(odds.win),
        draw=round(odds.draw),
        loss=round(odds.loss),
    )
