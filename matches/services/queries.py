"""What lists and ratings ask: nothing here changes with an event that is hidden from somebody."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

import msgspec

from matches.eventstore import store
from matches.eventstore.rows import Finished, Listed
from matches.games.registry import rulesets
from matches.services import people
from matches.services.people import PlayerRef


class Cursor(NamedTuple):
    """A finished match's place in the order of commits."""

    ended_order: int
    match_id: UUID


class FinishedMatch(msgspec.Struct, frozen=True):
    """A finished rated match; `players` (ids in hex) and `places` (1 is best) are by seat."""

    match_id: UUID
    ruleset: str
    control: str
    players: tuple[str, ...]
    places: tuple[int, ...]
    ended_at_ms: int
    cursor: Cursor


def my_matches(
    player: str, *, before: tuple[int, UUID] | None = None, limit: int, status: int | None = None
) -> list[Listed]:
    """The player's matches and live invitations, newest first, after (created_at_ms, id)."""
    return store.my_matches(player, before=before, limit=limit, status=status)


Unavailable = store.Unavailable
"""What every reading of many matches raises where the log cannot be reached."""


def finished_rated(*, after: Cursor | None, limit: int) -> list[FinishedMatch]:
    """Rated matches that finished, in the order of commits, after a cursor; aborted ones never.

    A match that commits late is never skipped: nothing is shown that another
    could still be put in front of.
    """
    return [_rated(one) for one in store.finished_rated(after, limit)]


def rated_after(
    cursor: Cursor | None, *, players: Iterable[str], since_ms: int, until_ms: int
) -> bool:
    """Whether a rated match of one of the players (ids in hex) finished after a cursor.

    Of those made since an instant and over by another; also of those that
    `finished_rated` does not show yet.
    """
    return store.rated_after(cursor, players=players, since_ms=since_ms, until_ms=until_ms)


def _rated(finished: Finished) -> FinishedMatch:
    match = finished.match
    summary = match.summary
    if summary is None or match.ended_at_ms is None:
        raise ValueError(f"{match.match_id} is finished without a result")
    players = tuple(player for _, player in match.players)
    return FinishedMatch(
        match_id=match.match_id,
        ruleset=match.ruleset,
        control=match.control,
        players=players,
        places=_places(len(players), summary.winner),
        ended_at_ms=match.ended_at_ms,
        cursor=Cursor(*finished.cursor),
    )


def _places(seats: int, winner: int | None) -> tuple[int, ...]:
    """The winner first and all others second; all first where nobody won."""
    return tuple(1 if winner in (None, seat) else 2 for seat in range(seats))


def player_by_username(username: str) -> PlayerRef | None:
    """The player of this name, whatever its case; None where there is none. No guests."""
    return people.by_username(username)


def players(public_ids: Iterable[str]) -> dict[str, PlayerRef]:
    """The players of these ids (hex); unknown ids are left out."""
    return people.by_ids(public_ids)


def usernames(public_ids: Iterable[str]) -> dict[str, str | None]:
    """The names of these players (ids in hex), None for a guest; unknown ids are left out."""
    return {public_id: player.username for public_id, player in players(public_ids).items()}


def rated_controls() -> dict[str, tuple[str, ...]]:
    """By ruleset, the controls with which any version of it is rated, in their usual order."""
    found: dict[str, tuple[str, ...]] = {}
    for ruleset in rulesets():
        known = found.get(ruleset.key, ())
        more = tuple(control for control in ruleset.rated_controls if control not in known)
        found[ruleset.key] = known + more
    return found
