"""From an Idempotency-Key to what the log and the key store know a write by."""

from __future__ import annotations

import hashlib
import re
from uuid import UUID

import msgspec
from django.utils.crypto import salted_hmac

from matches.eventstore.rows import CommandKey
from matches.services.problems import Problem

_KEY = re.compile(r"[\x21-\x7e]{1,64}\Z")


def checked(key: str) -> str:
    """The key itself; raises `Problem` where it is missing or not allowed."""
    if not key:
        raise Problem("idempotency_key_missing")
    if not _KEY.match(key):
        raise Problem("idempotency_key_invalid")
    return key


def written(body: msgspec.Struct) -> bytes:
    """A body as we would write it: spaces and the order of keys make no other request of it."""
    return msgspec.json.encode(body, order="sorted")


def command_key(*, player: str, key: str, path: str, body: bytes) -> CommandKey:
    """The id and fingerprint of a write.

    The id is the player's own: two players may use the same key. `body` is the
    body as `written`.
    """
    named = hashlib.sha256(f"{player}:{key}".encode()).digest()
    return CommandKey(command_id=UUID(bytes=named[:16]), fingerprint=fingerprint(path, body))


def fingerprint(path: str, body: bytes, *, method: str = "POST") -> int:
    """Tells a write from another one under the same key; signed, 64 bits."""
    return _signed(hashlib.sha256(_request(path, body, method)).digest())


def keyed_fingerprint(path: str, body: bytes, *, method: str = "POST") -> int:
    """The same for a body that may hold a password: nobody can try passwords on a stolen table.

    It is an HMAC under `SECRET_KEY`, which the database does not hold.
    """
    asked = _request(path, body, method)
    return _signed(salted_hmac("xqmj.fingerprint", asked, algorithm="sha256").digest())


def _request(path: str, body: bytes, method: str) -> bytes:
    return f"{method} {path}\n".encode() + body


def _signed(digest: bytes) -> int:
    return int.from_bytes(digest[:8], "big", signed=True)
