"""Writes ratings: the catch-up that applies every finished rated match exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from ratings import source
from ratings.fold import Entry, Ledger, Position, Unratable, players_of, pool_key
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


def apply_finished(*, limit: int = A_CALL) -> int:
    """Rate the finished matches that are not rated yet, and return how many this call rated.

    Safe to run as often and in as many processes as one likes: the row of `CatchUp` lets one of
    them work, the others return at once; who dies in the middle leaves nothing behind. Raises
    `Unratable` after the last match before one that cannot be rated, and stays there: to skip it
    would be to lose it silently.
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
    if row.ended_xid is None or row.match_id is None:
        return None
    return Position(row.ended_xid, row.match_id)


def _apply_batch(size: int) -> tuple[int, Unratable | None]:
    # Most runs find nothing: they take no lock and no transaction id.
    if not source.finished_rated(after=position(CatchUp.objects.get()), limit=1):
        return 0, None
    with transaction.atomic():
        row = CatchUp.objects.select_for_update(skip_locked=True).first()
        if row is None:
            return 0, None
        matches = source.finished_rated(after=position(row), limit=size)
        applied, obstacle = _apply(row, matches)
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
    if last is not None:
        RatingEvent.objects.bulk_create([RatingEvent.of(entry) for entry in entries])
        _project(ledger, {(entry.pool, entry.player) for entry in entries})
        CatchUp.objects.update(ended_xid=last.ended_xid, match_id=last.match_id, updated_at=Now())
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
    """What is held of the matches' players and pools."""
    ledger = Ledger()
    keys = {pool_key(match) for match in matches}
    players = {player for match in matches for player in players_of(match)}
    for rating in Rating.objects.filter(pool__in=keys, player__in=players):
        ledger.standings.setdefault(rating.pool, {})[rating.player] = rating.standing
    for key in keys:
        log = RatingEvent.objects.filter(pool=key).order_by("-seq")
        ledger.last_seq[key] = log.values_list("seq", flat=True).first() or 0
    return ledger


def _project(ledger: Ledger, moved: set[tuple[str, UUID]]) -> None:
    rows = [
        Rating.of(pool=pool, player=player, standing=ledger.standings[pool][player])
        for pool, player in sorted(moved)
    ]
    Rating.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["player", "pool"], update_fields=PROJECTED
    )
