"""PURE: folds finished matches into standings and log entries.

The live catch-up and the rebuild both go through a `Ledger`, so they differ only in where they
read and write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol
from uuid import UUID

import msgspec

from ratings import glicko2
from ratings.glicko2 import Glicko
from ratings.pools import UnknownControl, pool_of


class Finished(Protocol):
    """What is asked of a finished rated match.

    `players` are public ids in hex, by seat. `places` are by seat too: 1 is the best, equal
    places drew. `ended_at_ms` is the database's clock at the end.
    """

    @property
    def match_id(self) -> UUID:
        """The match."""

    @property
    def ruleset(self) -> str:
        """Its ruleset's key."""

    @property
    def control(self) -> str:
        """Its clock control, such as `3+2`."""

    @property
    def players(self) -> tuple[str, ...]:
        """Public ids, by seat."""

    @property
    def places(self) -> tuple[int, ...]:
        """Places, by seat."""

    @property
    def ended_at_ms(self) -> int:
        """The instant of its end."""


class Position(NamedTuple):
    """Where a match stands in the order of application: by the transaction that ended it."""

    ended_order: int
    match_id: UUID


class Unratable(Exception):
    """A match says that it is rated, and cannot be: somebody must look, nothing is skipped."""


class Standing(msgspec.Struct, frozen=True):
    """One player in one pool: strength when last rated, and the results that led there.

    A win is a first place held alone, a draw a shared first place, all else a loss; of two seats
    that is what the words mean anyway. `last_at_ms` is None for who has no rated match yet.
    """

    glicko: Glicko
    games: int
    wins: int
    draws: int
    losses: int
    last_at_ms: int | None


NOBODY = Standing(glicko2.NEWCOMER, 0, 0, 0, 0, None)
"""Who has no rated match in the pool yet."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the rating log: what one match did to one of its seats.

    `seq` is dense in the pool, from 1; a match takes one a seat, in the order of seats. `idle_ms`
    is the time since `before` was written, by which its deviation is grown first. The opponents'
    inputs stand in the sibling entries of the same match.
    """

    pool: str
    seq: int
    match_id: UUID
    seat: int
    seats: int
    player: UUID
    place: int
    at_ms: int
    idle_ms: int
    algorithm: int
    before: Glicko
    after: Glicko

    def line(self) -> bytes:
        """Return the entry's canonical bytes, by which a rebuild compares it."""
        return msgspec.json.encode(self)


class Step(msgspec.Struct, frozen=True):
    """What one match adds to its pool: entries and new standings, both by seat."""

    entries: tuple[Entry, ...]
    standings: tuple[Standing, ...]


class Ledger:
    """Every pool's standings and last number, as far as somebody has loaded or folded them."""

    def __init__(self) -> None:
        self.standings: dict[str, dict[UUID, Standing]] = {}
        self.last_seq: dict[str, int] = {}

    def apply(self, match: Finished) -> tuple[Entry, ...]:
        """Fold the match in and return its entries; raises `Unratable` and changes nothing then."""
        pool = pool_key(match)
        held = self.standings.setdefault(pool, {})
        step = fold(match, held, last_seq=self.last_seq.get(pool, 0))
        for entry, standing in zip(step.entries, step.standings, strict=True):
            held[entry.player] = standing
        self.last_seq[pool] = step.entries[-1].seq
        return step.entries


def pool_key(match: Finished) -> str:
    """Return the key of the pool that the match counts in; raises `Unratable`."""
    try:
        return pool_of(ruleset=match.ruleset, control=match.control).key
    except UnknownControl as error:
        raise Unratable(f"match {match.match_id}: no pool for control {error}") from error


def fold(match: Finished, standings: Mapping[UUID, Standing], *, last_seq: int) -> Step:
    """Return what the match adds to its pool.

    `standings` holds the pool's players (who is missing has none yet), `last_seq` is the pool's
    last used number. Raises `Unratable`.
    """
    pool = pool_key(match)
    players = players_of(match)
    before = [standings.get(player, NOBODY) for player in players]
    entrants = [
        glicko2.Entrant(standing.glicko, _idle_ms(standing, match.ended_at_ms), place)
        for standing, place in zip(before, match.places, strict=True)
    ]
    after = glicko2.rate(entrants)
    entries = tuple(
        Entry(
            pool=pool,
            seq=last_seq + 1 + seat,
            match_id=match.match_id,
            seat=seat,
            seats=len(players),
            player=players[seat],
            place=entrant.place,
            at_ms=match.ended_at_ms,
            idle_ms=entrant.idle_ms,
            algorithm=glicko2.ALGORITHM,
            before=entrant.glicko,
            after=after[seat],
        )
        for seat, entrant in enumerate(entrants)
    )
    moved = tuple(_next(before[entry.seat], entry, match.places) for entry in entries)
    return Step(entries, moved)


def players_of(match: Finished) -> tuple[UUID, ...]:
    """Return the seats' players; raises `Unratable` where the match is not a contest of several."""
    try:
        players = tuple(UUID(hex=player) for player in match.players)
    except ValueError as error:
        raise Unratable(f"match {match.match_id}: {error}") from error
    if len(players) < 2 or len(set(players)) != len(players):
        raise Unratable(f"match {match.match_id}: players {match.players}")
    if len(match.places) != len(players):
        raise Unratable(f"match {match.match_id}: places {match.places}")
    return players


def _idle_ms(standing: Standing, at_ms: int) -> int:
    # Matches come in the order in which their ends were committed. One whose end was due earlier
    # but noticed later finds a player rated "after" it: no time has passed then, never less.
    return 0 if standing.last_at_ms is None else max(0, at_ms - standing.last_at_ms)


def _next(standing: Standing, entry: Entry, places: Sequence[int]) -> Standing:
    first = entry.place == min(places)
    shared = places.count(entry.place) > 1
    return Standing(
        glicko=entry.after,
        games=standing.games + 1,
        wins=standing.wins + (first and not shared),
        draws=standing.draws + (first and shared),
        losses=standing.losses + (not first),
        last_at_ms=max(entry.at_ms, standing.last_at_ms or entry.at_ms),
    )
