"""The one door to matches: all that ratings ask of them, in ratings' own terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol
from uuid import UUID

import msgspec

from matches.services import queries
from ratings.fold import Finished, Position
from ratings.pools import Pool, pools_of


class Ended(Finished, Protocol):
    """A finished rated match and its place in the order of application."""

    @property
    def cursor(self) -> queries.Cursor:
        """Where it stands."""


class Person(msgspec.Struct, frozen=True):
    """Who is rated."""

    public_id: UUID
    username: str | None
    kind: str


def finished_rated(*, after: Position | None, limit: int) -> Sequence[Ended]:
    """Return rated matches that finished (never aborted ones) after a position, in its order.

    Only those that no transaction still running could be put in front of: what comes later comes
    after them.
    """
    cursor = None if after is None else queries.Cursor(*after)
    return queries.finished_rated(after=cursor, limit=limit)


def ended_after(
    after: Position | None, *, players: Iterable[UUID], since_ms: int, until_ms: int
) -> bool:
    """Tell whether a rated match of one of the players ended after a position.

    Of those made since an instant and over by another.
    """
    return queries.rated_after(
        None if after is None else queries.Cursor(*after),
        players=[player.hex for player in players],
        since_ms=since_ms,
        until_ms=until_ms,
    )


def position_of(match: Ended) -> Position:
    """Return where the match stands in the order of application."""
    return Position(match.cursor.ended_order, match.cursor.match_id)


def person(username: str) -> Person | None:
    """Return the player of that name, whatever its case; None where there is none."""
    found = queries.player_by_username(username)
    if found is None:
        return None
    return Person(UUID(hex=found.public_id), found.username, found.kind)


def usernames(players: Iterable[UUID]) -> dict[UUID, str | None]:
    """Return the players' names; who is not known is left out."""
    found = queries.usernames([player.hex for player in players])
    return {UUID(hex=public_id): name for public_id, name in found.items()}


def pools() -> Mapping[str, Pool]:
    """Return every pool there can be, by key, in the order of the rulesets' registration."""
    return {
        pool.key: pool
        for ruleset, controls in queries.rated_controls().items()
        for pool in pools_of(ruleset, frozenset(controls))
    }
