"""Whom a token speaks for, remembered for five seconds.

The look-up goes by the event store's connections and the database clock, so
that a move opens no connection of Django's, and an expired token is expired
whatever this machine's clock says. One look-up asks for all tokens that were
used since they were last asked for: those at play cost a trip together, not
each.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from itertools import islice, takewhile

from knox.settings import knox_settings

from matches.eventstore import pool
from matches.eventstore.pool import Unavailable
from matches.services.errors import unavailable
from matches.services.people import PlayerRef

TRUSTED_S = 5.0
"""A revoked token may still be honoured this long by other processes."""
STALE_S = 2.5
"""A token looked up longer ago is asked for again with the next that has to be."""
AT_ONCE = 200
REMEMBERED = 20_000
LONGEST = 128
"""Characters; ours have 64."""

_LOOK_UP = """
SELECT t.digest, replace(p.public_id::text, '-', ''), p.kind, p.username,
       coalesce(s.scope, 'play')
  FROM knox_authtoken t JOIN matches_player p ON p.id = t.user_id
       LEFT JOIN matches_token_scope s ON s.token_id = t.digest
 WHERE t.digest = ANY (%s::varchar[])
   AND p.is_active AND (t.expiry IS NULL OR t.expiry > clock_timestamp())
"""


class Bearer(PlayerRef, frozen=True):
    """Whom a token speaks for, and what it may do: `play`, `bot` or `read`."""

    scope: str


class _Seen:
    """What a look-up found, when it was asked, and whether that was used since."""

    __slots__ = ("asked_s", "player", "used")

    def __init__(self, player: Bearer, asked_s: float) -> None:
        self.player = player
        self.asked_s = asked_s
        self.used = False


class _Memory:
    """Tokens seen or revoked of late, by their digests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, _Seen] = OrderedDict()
        self._revoked: OrderedDict[str, float] = OrderedDict()

    def get(self, digest: str, trusted_s: float) -> Bearer | None:
        with self._lock:
            seen = self._seen.get(digest)
            if seen is None or seen.asked_s <= time.monotonic() - trusted_s:
                return None
            seen.used = True
            return seen.player

    def stale(self) -> list[str]:
        """Tokens in use that were looked up a while ago, the longest ago first."""
        before_s = time.monotonic() - STALE_S
        with self._lock:
            old = takewhile(lambda item: item[1].asked_s < before_s, self._seen.items())
            return list(islice((digest for digest, seen in old if seen.used), AT_ONCE))

    def put(self, found: Mapping[str, Bearer], asked: Iterable[str], asked_s: float) -> None:
        """Remember what was found of what was asked for at `asked_s`, and forget the rest."""
        with self._lock:
            gone_s = time.monotonic() - TRUSTED_S
            while self._seen and next(iter(self._seen.values())).asked_s <= gone_s:
                self._seen.popitem(last=False)
            for digest in asked:
                player = found.get(digest)
                if player is None or digest in self._revoked:
                    self._seen.pop(digest, None)
                else:
                    self._seen[digest] = _Seen(player, asked_s)
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

    def forget(self, player: str) -> None:
        with self._lock:
            for digest in [
                one for one, seen in self._seen.items() if seen.player.public_id == player
            ]:
                del self._seen[digest]

    def is_revoked(self, digest: str) -> bool:
        with self._lock:
            return digest in self._revoked


_memory = _Memory()


def digest_of(token: str) -> str:
    """The hash under which knox stores a token of ASCII."""
    return str(knox_settings.SECURE_HASH_ALGORITHM(token.encode()).hexdigest())


def is_fresh(token: str, *, trusted_s: float) -> bool:
    """Whether `look_up` would answer, and with a player, without a trip."""
    return token.isascii() and _memory.get(digest_of(token), trusted_s) is not None


def look_up(token: str, *, trusted_s: float | None = None) -> Bearer | None:
    """Whom the token speaks for, None for an unknown, expired or revoked one, or one of the barred.

    What was found up to `trusted_s` ago is good enough; without it, `TRUSTED_S`.
    Raises `ServiceError` unavailable.
    """
    if not token.isascii() or not token.isprintable() or len(token) > LONGEST:
        return None
    digest = digest_of(token)
    player = _memory.get(digest, TRUSTED_S if trusted_s is None else trusted_s)
    if player is not None:
        return player
    asked = [digest, *(other for other in _memory.stale() if other != digest)]
    asked_s = time.monotonic()
    try:
        rows = pool.run(_LOOK_UP, ("{" + ",".join(asked) + "}",)).rows
    except Unavailable as error:
        raise unavailable() from error
    found = {row[0]: _player(*row[1:]) for row in rows}
    _memory.put(found, asked, asked_s)
    return None if _memory.is_revoked(digest) else found.get(digest)


def _player(public_id: str, kind: str, username: str, scope: str) -> Bearer:
    return Bearer(public_id, None if kind == "guest" else username, kind, scope)


def revoked(digest: str) -> None:
    """Forget a token that was just revoked."""
    _memory.revoke(digest)


def forget(player: str) -> None:
    """Look the tokens of a player (id in hex) up anew when they are next shown to this process."""
    _memory.forget(player)


def forget_all() -> None:
    """Trust no token without looking it up."""
    global _memory  # noqa: PLW0603 - one a process is the point
    _memory = _Memory()


os.register_at_fork(after_in_child=forget_all)
