"""Writes ratings: the catch-up that applies every finished rated match exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import connection, transaction
from django.db.models.functions import Now

from ratings import source
from ratings.fold import Entry, Ledger, Position, Unratable, players_of, pool_key
from ratings.glicko2 import Glicko
from ratings.models import CatchUp, Rating, RatingEvent

BATCH = 200
"""Matches to one transaction: long enough to be cheap, short enough to hold the lock for."""

A_CALL = 5_000
"""Matches to one call, so that a task ends well within its time limit."""

PROJECTED = (
    "rating",
    "rd",
    "vol",
    "games",
    "wins",
    "draws",
    "losses",
    "last_at_ms",
    "settled_until_ms",
)
"""The columns of `Rating` that a match moves."""

_LAST = """
SELECT pair.pool, pair.player, last.after_rating, last.after_rd, last.after_vol
  FROM unnest(%s::text[], %s::uuid[]) AS pair (pool, player)
 CROSS JOIN LATERAL (
       SELECT e.after_rating, e.after_rd, e.after_vol FROM ratings_ratingevent e
        WHERE e.player = pair.player AND e.pool = pair.pool ORDER BY e.seq DESC LIMIT 1
       ) AS last
"""
"""The last word of the log on each player in each pool, by index."""


class Drift(Exception):
    """The projection is not what the log says, so nothing more may be logged upon it.

    `manage.py rebuild_ratings` writes it anew.
    """


def apply_finished(*, limit: int = A_CALL) -> int:
    """Rate the finished matches that are not rated yet, and return how many this call rated.

    Safe to run as often and in as many processes as one likes: the row of `CatchUp` lets one of
    them work, the others return at once; who dies in the middle leaves nothing behind. Raises
    `Unratable` after the last match before one that cannot be rated, and stays there: to skip it
    would be to lose it silently. `Drift` stops it as well.
    """
    done = 0
    while done < limit:
        batch = min(BATCH, limit - done)
        applied, obstacle = _apply_batch(batch)
        if obstacle is not None:
            raise obstacle
        done += applied
        if applied < batch:
            break
    return done


def position(row: CatchUp) -> Position | None:
    """Return the last match applied."""
    if row.ended_order is None or row.match_id is None:
        return None
    return Position(row.ended_order, row.match_id)


def _apply_batch(size: int) -> tuple[int, Unratable | None]:
    # Most runs find nothing: they take no lock and no transaction id.
    if not source.finished_rated(after=position(CatchUp.objects.get()), limit=1):
        return 0, None
    with transaction.atomic():
        held = CatchUp.objects.select_for_update(skip_locked=True).first()
        if held is None:
            return 0, None
        matches = source.finished_rated(after=position(held), limit=size)
        applied, obstacle = _apply(held, matches)
    return applied, obstacle


def _apply(row: CatchUp, found: Sequence[source.Ended]) -> tuple[int, Unratable | None]:
    """Apply what can be applied of `found`, in its order, under the lock of `row`."""
    matches, obstacle = _ratable(found)
    ledger = _loaded(matches)
    last = position(row)
    entries: list[Entry] = []
    for match in matches:
        last = step(last, match)
        entries += ledger.apply(match)
    if entries and last is not None:
        RatingEvent.objects.bulk_create([RatingEvent.of(entry) for entry in entries])
        _project(ledger, {(entry.pool, entry.player) for entry in entries})
        CatchUp.objects.update(
            ended_order=last.ended_order, match_id=last.match_id, updated_at=Now()
        )
    return len(matches), obstacle


def _ratable(matches: Sequence[source.Ended]) -> tuple[list[source.Ended], Unratable | None]:
    """The matches before the first that cannot be rated, and what is wrong with that one."""
    for n, match in enumerate(matches):
        try:
            pool_key(match)
            players_of(match)
        except Unratable as error:
            return list(matches[:n]), error
    return list(matches), None


def step(last: Position | None, match: source.Ended) -> Position:
    """Return the position of `match`, which comes after `last`.

    Raises `Unratable` where it does not: then a rebuild would find another order.
    """
    here = source.position_of(match)
    if last is not None and here <= last:
        raise Unratable(f"match {match.match_id} at {here} comes after {last}")
    return here


def _loaded(matches: Sequence[source.Ended]) -> Ledger:
    """What is held of the matches' players and pools; raises `Drift`."""
    ledger = Ledger()
    pairs = {(pool_key(match), player) for match in matches for player in players_of(match)}
    pools, players = {pool for pool, _ in pairs}, {player for _, player in pairs}
    for rating in Rating.objects.filter(pool__in=pools, player__in=players):
        ledger.standings.setdefault(rating.pool, {})[rating.player] = rating.standing
    _check_against_log(ledger, sorted(pairs))
    for pool in pools:
        log = RatingEvent.objects.filter(pool=pool).order_by("-seq")
        ledger.last_seq[pool] = log.values_list("seq", flat=True).first() or 0
    return ledger


def _check_against_log(ledger: Ledger, pairs: Sequence[tuple[str, UUID]]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_LAST, [[pool for pool, _ in pairs], [player for _, player in pairs]])
        last = {(pool, player): Glicko(*after) for pool, player, *after in cursor.fetchall()}
    for pool, player in pairs:
        standing = ledger.standings.get(pool, {}).get(player)
        if last.get((pool, player)) != (standing and standing.glicko):
            raise Drift(f"{player} in {pool}: the ratings are not what the log says")


def _project(ledger: Ledger, moved: set[tuple[str, UUID]]) -> None:
    rows = [
        Rating.of(pool=pool, player=player, standing=ledger.standings[pool][player])
        for pool, player in sorted(moved)
    ]
    Rating.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["player", "pool"], update_fields=PROJECTED
    )
