"""Whom a token speaks for, remembered for five seconds.

The look-up goes by the event store's connections and the database clock, so
that a move opens no connection of Django's, and an expired token is expired
whatever this machine's clock says.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict

from knox.crypto import hash_token
from knox.settings import CONSTANTS

from matches.eventstore import pool
from matches.eventstore.pool import Unavailable
from matches.services.errors import unavailable
from matches.services.people import PlayerRef

TRUSTED_S = 5.0
"""A revoked token may still be honoured this long by other processes."""
REMEMBERED = 20_000
LONGEST = 128
"""Characters; ours have 64."""

_LOOK_UP = """
SELECT replace(p.public_id::text, '-', ''), p.kind, p.username
  FROM knox_authtoken t JOIN matches_player p ON p.id = t.user_id
 WHERE t.token_key = %s AND t.digest = %s
   AND p.is_active AND (t.expiry IS NULL OR t.expiry > clock_timestamp())
"""


class _Memory:
    """Tokens seen or revoked of late, by their digests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, tuple[float, PlayerRef]] = OrderedDict()
        self._revoked: OrderedDict[str, float] = OrderedDict()

    def get(self, digest: str) -> PlayerRef | None:
        with self._lock:
            until_s, player = self._seen.get(digest, (0.0, None))
        return player if until_s > time.monotonic() else None

    def put(self, digest: str, player: PlayerRef, asked_s: float) -> None:
        """Remember what was found at `asked_s`, unless the token was revoked here since."""
        with self._lock:
            if digest in self._revoked:
                return
            self._seen[digest] = (asked_s + TRUSTED_S, player)
            self._seen.move_to_end(digest)
            while len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)

    def revoke(self, digest: str) -> None:
        with self._lock:
            self._seen.pop(digest, None)
            self._revoked[digest] = time.monotonic()
            # A look-up under way ends sooner than this; afterwards the table says it.
            while self._revoked and next(iter(self._revoked.values())) < time.monotonic() - 60:
                self._revoked.popitem(last=False)

    def is_revoked(self, digest: str) -> bool:
        with self._lock:
            return digest in self._revoked


_memory = _Memory()


def digest_of(token: str) -> str:
    """The hash under which a token is stored."""
    return str(hash_token(token))


def look_up(token: str) -> PlayerRef | None:
    """Whom the token speaks for, None for an unknown, expired or revoked one, or one of the barred.

    Raises `ServiceError` unavailable.
    """
    if not token.isascii() or not token.isprintable() or len(token) > LONGEST:
        return None
    digest = digest_of(token)
    player = _memory.get(digest)
    if player is not None:
        return player
    asked_s = time.monotonic()
    try:
        rows = pool.run(_LOOK_UP, (token[: CONSTANTS.TOKEN_KEY_LENGTH], digest)).rows
    except Unavailable as error:
        raise unavailable() from error
    if not rows or _memory.is_revoked(digest):
        return None
    public_id, kind, username = rows[0]
    player = PlayerRef(public_id, None if kind == "guest" else username, kind)
    _memory.put(digest, player, asked_s)
    return player


def revoked(digest: str) -> None:
    """Forget a token that was just revoked."""
    _memory.revoke(digest)


def forget_all() -> None:
    """Trust no token without looking it up."""
    global _memory  # noqa: PLW0603 - one a process is the point
    _memory = _Memory()


os.register_at_fork(after_in_child=forget_all)
