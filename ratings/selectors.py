"""Reads ratings: what players and leaderboards show at this instant of the database's clock."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from decimal import Decimal
from uuid import UUID

import msgspec
from django.db.models import BigIntegerField, Func

from ratings import source
from ratings.glicko2 import NEWCOMER, Glicko, grow
from ratings.models import Rating, RatingEvent


class NowMs(Func):
    """The database's clock in integer milliseconds."""

    template = "floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint"
    output_field = BigIntegerField()


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """Where a player stands in a pool now: `rd` is as wide as the time since has made it.

    `last_at_ms` is the end of the last rated match.
    """

    pool: str
    rating: Decimal
    rd: Decimal
    vol: Decimal
    provisional: bool
    games: int
    wins: int
    draws: int
    losses: int
    last_at_ms: int


class Named(msgspec.Struct, frozen=True):
    """A player by id and name; None: there is no account any more."""

    public_id: UUID
    username: str | None


class Ranked(msgspec.Struct, frozen=True):
    """A line of a leaderboard; equal ratings share a rank."""

    rank: int
    player: Named
    shown: Shown


class Opponent(msgspec.Struct, frozen=True):
    """Who sat at another seat of a rated match, with the strength last recorded before it."""

    player: Named
    place: int
    before: Glicko


class Change(msgspec.Struct, frozen=True):
    """What one match did to one player. `idle_ms` widened `before` first."""

    seq: int
    match_id: UUID
    at_ms: int
    place: int
    idle_ms: int
    before: Glicko
    after: Glicko
    opponents: tuple[Opponent, ...]


def ratings_of(player: UUID) -> list[Shown]:
    """Return the player's ratings, by name of pool; none without a rated match."""
    rows = Rating.objects.filter(player=player).annotate(now_ms=NowMs())
    # Sorted here: the order of texts in the database depends on where it was made.
    return sorted((_shown(row, row.now_ms) for row in rows), key=lambda shown: shown.pool)


def rating_in(player: UUID, pool: str) -> Decimal:
    """Return the player's rating in the pool, a newcomer's without a rated match there."""
    found = Rating.objects.filter(player=player, pool=pool).values_list("rating", flat=True).first()
    return NEWCOMER.rating if found is None else found


def ratings_in_all(players: Collection[UUID]) -> list[tuple[UUID, str, Decimal]]:
    """Player, pool and rating of whatever these players are rated in."""
    return list(Rating.objects.filter(player__in=players).values_list("player", "pool", "rating"))


def leaderboard(pool: str, *, limit: int) -> list[Ranked]:
    """Return the pool's best, provisional players left out.

    Equal ratings stand in the order of their deviations when last rated (the surer first), then
    of their ids, so the same table never has two orders.
    """
    rows = list(
        Rating.objects.filter(pool=pool, settled_until_ms__gt=NowMs())
        .annotate(now_ms=NowMs())
        .order_by("-rating", "rd", "player")[:limit]
    )
    names = source.usernames(row.player for row in rows)
    ranks: dict[Decimal, int] = {}
    return [
        Ranked(
            ranks.setdefault(row.rating, n),
            Named(row.player, names.get(row.player)),
            _shown(row, row.now_ms),
        )
        for n, row in enumerate(rows, start=1)
    ]


def history(
    player: UUID, pool: str, *, before_seq: int | None, limit: int
) -> tuple[list[Change], int | None]:
    """Return the player's changes in the pool, newest first, and where the next page begins.

    `before_seq` is what the page before returned; None begins with the newest.
    """
    log = RatingEvent.objects.filter(player=player, pool=pool)
    if before_seq is not None:
        log = log.filter(seq__lt=before_seq)
    rows = list(log.order_by("-seq")[: limit + 1])
    more = len(rows) > limit
    rows = rows[:limit]
    opponents = _opponents(player, rows)
    changes = [
        Change(
            row.seq,
            row.match_id,
            row.at_ms,
            row.place,
            row.idle_ms,
            row.entry.before,
            row.entry.after,
            tuple(opponents.get(row.match_id, ())),
        )
        for row in rows
    ]
    return changes, rows[-1].seq if more else None


def _opponents(player: UUID, rows: Sequence[RatingEvent]) -> dict[UUID, list[Opponent]]:
    """The other seats of each match, in the order of seats."""
    others = list(
        RatingEvent.objects.filter(match_id__in=[row.match_id for row in rows])
        .exclude(player=player)
        .order_by("seq")
    )
    names = source.usernames({other.player for other in others})
    found: dict[UUID, list[Opponent]] = {}
    for other in others:
        found.setdefault(other.match_id, []).append(
            Opponent(Named(other.player, names.get(other.player)), other.place, other.entry.before)
        )
    return found


def _shown(row: Rating, now_ms: int) -> Shown:
    return Shown(
        pool=row.pool,
        rating=row.rating,
        rd=grow(row.glicko, idle_ms=max(0, now_ms - row.last_at_ms)).rd,
        vol=row.vol,
        provisional=row.settled_until_ms <= now_ms,
        games=row.games,
        wins=row.wins,
        draws=row.draws,
        losses=row.losses,
        last_at_ms=row.last_at_ms,
    )
