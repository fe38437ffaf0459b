"""Quick pairing: whoever waits is paired with the nearest rating that its patience allows.

Only those who wait for the same (ruleset, control, rated or not) meet. The
longest wait chooses first, within a window that widens. Two rows are paired
under their locks, in one transaction and with the id of their match; the match
of an id can be made as often as one likes, so `tend` finishes what a crash left.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from matches.eventstore import ids
from matches.games.protocol import Rejected
from matches.models import Pairing
from matches.services import lobby
from matches.services.accounts import Identity
from matches.services.drafts import Terms, draft
from matches.services.errors import ServiceError, refused
from matches.services.ports import RatingOf

LOG = logging.getLogger("xqmj.services")

WAIT_MS = 600_000
"""Whoever has waited so long in vain waits no longer."""
SHOWN_MS = 3_600_000
"""Whoever was paired can ask for the match so long after it would have waited."""
NARROWEST, WIDEST, POINTS_PER_S = 50, 500, 10
NO_LIMIT_AFTER_MS = 60_000
AT_ONCE = 200


class Pool(NamedTuple):
    """Who meets whom."""

    ruleset: str
    control: str
    rated: bool


def window(waited_ms: int) -> int | None:
    """How far from one's own rating an opponent's may be after such a wait; None: any.

    >>> [window(ms) for ms in (0, 1_000, 30_000, 59_999, 60_000)]
    [50, 60, 350, 500, None]
    """
    if waited_ms >= NO_LIMIT_AFTER_MS:
        return None
    return min(WIDEST, NARROWEST + POINTS_PER_S * waited_ms // 1_000)


def enter(*, who: Identity, pool: Pool, rating_of: RatingOf) -> Pairing:
    """Begin to wait; for a transaction with the key of the request, and `pair` after it.

    Raises `ServiceError`: what `create_match` refuses of such terms,
    already_playing, cooling_down, already_waiting, and bot_not_paired.
    """
    if who.kind == "bot":
        raise ServiceError("bot_not_paired")
    lobby.check_free(who, rated=pool.rated)
    try:
        draft(_terms(pool), players=(who.id,))
    except Rejected as refusal:
        raise refused(refusal) from None
    now_ms = lobby.now_ms()
    over = Q(match_id=None, expires_ms__lte=now_ms) | Q(made=True)
    Pairing.objects.filter(over, player=who.id).delete()
    try:
        with transaction.atomic():
            return Pairing.objects.create(
                player=UUID(hex=who.id),
                **pool._asdict(),
                rating=rating_of(player=who.id, ruleset=pool.ruleset, control=pool.control),
                since_ms=now_ms,
                expires_ms=now_ms + WAIT_MS,
            )
    except IntegrityError:
        raise ServiceError("already_waiting") from None


def state(player: str) -> Pairing | None:
    """The player's wait, or what came of it; None where there is none, or no more."""
    now_ms = lobby.now_ms()
    live = Q(match_id=None, expires_ms__gt=now_ms) | Q(
        match_id__isnull=False, expires_ms__gt=now_ms - SHOWN_MS
    )
    return Pairing.objects.filter(live, player=player).first()


def leave(*, who: Identity) -> None:
    """Wait no longer. Raises `ServiceError` not_waiting, already_paired."""
    own = Pairing.objects.filter(player=who.id)
    if not own.filter(match_id=None, expires_ms__gt=lobby.now_ms()).delete()[0]:
        if own.filter(match_id__isnull=False).exists():
            raise ServiceError("already_paired")
        raise ServiceError("not_waiting")


def pair(pool: Pool) -> int:
    """Pair whoever can be paired now and make their matches; returns how many it paired.

    Raises `ServiceError` unavailable; then `tend` makes them.
    """
    now_ms = lobby.now_ms()
    with transaction.atomic():
        # Who is looked at by another call is its to pair, or the next one's.
        waiting = Pairing.objects.select_for_update(skip_locked=True).filter(
            match_id=None, expires_ms__gt=now_ms, **pool._asdict()
        )
        couples = chosen(list(waiting.order_by("since_ms", "player")[:AT_ONCE]), now_ms)
        for couple in couples:
            match_id = ids.new_match_id()
            for one, other in (couple, couple[::-1]):
                one.opponent, one.match_id, one.paired_ms = other.player, match_id, now_ms
                one.save(update_fields=["opponent", "match_id", "paired_ms"])
    for one, _ in couples:
        _finish(one)
    return len(couples)


def chosen(waiting: Sequence[Pairing], now_ms: int) -> list[tuple[Pairing, Pairing]]:
    """The couples of those who wait, who are given in the order in which they came."""
    left, couples = list(waiting), []
    while left:
        first = left.pop(0)
        limit = window(now_ms - first.since_ms)
        fitting = [one for one in left if limit is None or _apart(first, one) <= limit]
        if fitting:
            # Of equals the one who came first.
            nearest = min(fitting, key=lambda one: _apart(first, one))
            left.remove(nearest)
            couples.append((first, nearest))
    return couples


def tend() -> int:
    """Pair in every pool, and make the matches that are missing; returns how many it paired.

    Raises `ServiceError` unavailable.
    """
    now_ms = lobby.now_ms()
    stuck = Pairing.objects.filter(
        match_id__isnull=False, made=False, paired_ms__lte=now_ms - lobby.FINISH_AFTER_MS
    )
    for one in stuck.order_by("paired_ms", "player")[:AT_ONCE]:
        _finish(one)
    waiting = Pairing.objects.filter(match_id=None, expires_ms__gt=now_ms)
    pools = waiting.order_by().values_list(*Pool._fields).distinct()
    return sum(pair(Pool(*found)) for found in pools)


def forgettable() -> QuerySet[Pairing]:
    """Rows that nobody asks for any more."""
    return Pairing.objects.filter(
        Q(match_id=None) | Q(made=True), expires_ms__lte=lobby.now_ms() - SHOWN_MS
    ).order_by("expires_ms")


def _finish(one: Pairing) -> None:
    """Make the match of two who were paired, or find it made.

    Whoever plays another rated match by now waits no longer, and the other goes on waiting.
    """
    if one.opponent is None or one.match_id is None:
        raise ValueError(f"{one} is not paired")
    both = (one.player.hex, one.opponent.hex)
    # In one order, whichever row it is finished by: seats must not depend on it.
    players = (min(both), max(both))
    mine = Pairing.objects.filter(match_id=one.match_id, made=False)
    try:
        lobby.begin(
            _terms(Pool(one.ruleset, one.control, one.rated)),
            players=players,
            creator=players[0],
            match_id=one.match_id,
        )
    except ServiceError as error:
        if error.code == "unavailable":
            raise
        if error.code != "already_playing":
            LOG.warning("a pairing came to nothing: %s", error.code)
            mine.delete()
            return
        mine.filter(player__in=[player for player in both if lobby.playing(player)]).delete()
        mine.update(opponent=None, match_id=None, paired_ms=None)
    else:
        mine.update(made=True)


def _terms(pool: Pool) -> Terms:
    return Terms(ruleset=pool.ruleset, control=pool.control, rated=pool.rated)


def _apart(one: Pairing, other: Pairing) -> int:
    # Without a pool of ratings all are alike.
    return abs((one.rating or 0) - (other.rating or 0))
