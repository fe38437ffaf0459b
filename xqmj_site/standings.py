"""What matches are told of ratings, which they do not know."""

from __future__ import annotations

from uuid import UUID

from ratings.pools import UnknownControl, pool_of
from ratings.selectors import rating_in


def rating_of(*, player: str, ruleset: str, control: str) -> int | None:
    """The player's rating in the pool of the ruleset and control, in whole points; None: no pool.

    Whoever has no rated match there yet has a newcomer's.
    """
    try:
        pool = pool_of(ruleset=ruleset, control=control)
    except UnknownControl:
        return None
    return round(rating_in(UUID(hex=player), pool.key))
