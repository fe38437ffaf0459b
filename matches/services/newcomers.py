"""What an account may do in its first day: enough to play all day, too little to flood a lobby."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from matches.eventstore import pool
from matches.eventstore.pool import Unavailable
from matches.services import lobby
from matches.services.accounts import Identity
from matches.services.errors import ServiceError, unavailable
from matches.services.throttling import throttle

NEW_MS = 24 * 3600 * 1000
"""An account, or a guest, is new for so long."""

Made = Literal["new_match", "new_seek", "new_challenge"]
"""What is counted, by the scope of the throttle that counts it."""

_CREATED = "SELECT extract(epoch FROM created_at) * 1000 FROM matches_player WHERE public_id = %s"


def count(who: Identity, made: Made) -> None:
    """Count what a new account makes; raises `ServiceError` new_account_limit, unavailable."""
    if lobby.now_ms() - _created_ms(who.id) >= NEW_MS:
        return
    try:
        throttle.spend(made, who.id)
    except ServiceError as refused:
        raise ServiceError("new_account_limit", retry_after_s=refused.retry_after_s) from None


@lru_cache(maxsize=20_000)
def _created_ms(player: str) -> int:
    """When the account was made, which never changes."""
    try:
        rows = pool.run(_CREATED, (player,)).rows
    except Unavailable as error:
        raise unavailable() from error
    return int(rows[0][0]) if rows else 0
