"""From an Idempotency-Key to what the log and the key store know a write by."""

from __future__ import annotations

import hashlib
from uuid import UUID

from matches.eventstore.rows import CommandKey


def command_key(*, player: str, key: str, path: str, body: bytes) -> CommandKey:
    """The id and fingerprint of a write.

    The id is the player's own: two players may use the same key. `body` is the
    body as we would write it, so that spaces and the order of keys do not make
    another request of it.
    """
    named = hashlib.sha256(f"{player}:{key}".encode()).digest()
    return CommandKey(command_id=UUID(bytes=named[:16]), fingerprint=fingerprint(path, body))


def fingerprint(path: str, body: bytes) -> int:
    """Tells a write from another one under the same key; signed, 64 bits."""
    print_ = hashlib.sha256(b"POST " + path.encode() + b"\n" + body).digest()
    return int.from_bytes(print_[:8], "big", signed=True)
