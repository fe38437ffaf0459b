"""Whoever keeps aborting matches has to wait before meeting others again.

What counts is in the log: matches of two people that a player left before the
first deal, or was never ready for. Whoever was left waiting is not blamed, and
nobody minds that a match against the computer is left.
"""

from __future__ import annotations

from django.conf import settings

from matches.eventstore import store
from matches.eventstore.pool import Unavailable
from matches.services import computers
from matches.services.errors import ServiceError, unavailable


def check(player: str, *, now_ms: int) -> None:
    """Refuse the player (id in hex) with cooling_down; `retry_after_s` is how long it lasts.

    Raises `ServiceError`: cooling_down, unavailable.
    """
    within_ms, cooldown_ms = (
        1_000 * seconds for seconds in (settings.XQMJ_ABORTS_WITHIN_S, settings.XQMJ_COOLDOWN_S)
    )
    try:
        aborted_ms = store.aborted_by(
            player,
            since_ms=now_ms - cooldown_ms - within_ms,
            without=computers.IDS,
            limit=settings.XQMJ_ABORTS,
        )
    except Unavailable as error:
        raise unavailable() from error
    if len(aborted_ms) < settings.XQMJ_ABORTS or not aborted_ms:
        return
    if aborted_ms[0] - aborted_ms[-1] >= within_ms:
        return
    left_ms = aborted_ms[0] + cooldown_ms - now_ms
    if left_ms > 0:
        raise ServiceError("cooling_down", retry_after_s=-(-left_ms // 1_000))
