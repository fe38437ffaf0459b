"""The hash chain over a match's events.

hash_n = sha256(hash_(n-1) + canonical JSON of [match id, seq, kind, v, at_ms,
actor, [command id, fingerprint, effects] or null, payload]), from 32 zero bytes
before the first. Canonical JSON has sorted keys, no spaces, UTF-8, and only
objects, arrays, strings, integers, booleans and null. docs/export.md gives it
with an example for a second implementation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any
from uuid import UUID

import msgspec

from matches.eventstore.rows import Row

GENESIS = bytes(32)
"""The hash before the first event."""

_ENCODER = msgspec.json.Encoder(order="sorted")


def canonical(value: Any) -> bytes:
    """The canonical JSON of plain data; raises ValueError for a number that is no integer.

    >>> canonical({"b": [1, None], "a": "車"}).decode()
    '{"a":"車","b":[1,null]}'
    """
    _refuse_floats(value)
    return _ENCODER.encode(value)


def _refuse_floats(value: Any) -> None:
    if isinstance(value, float):
        raise ValueError(f"{value!r} has no canonical form")
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | tuple):
        return
    for one in value:
        _refuse_floats(one)


def link(prev: bytes, match_id: UUID, row: Row) -> bytes:
    """The hash of a row that follows the hash `prev`; the row's own `hash` is not looked at.

    The payload is hashed as the bytes it is: any other spelling of it shows.
    """
    command = "null"
    if row.command_id is not None:
        command = f'["{row.command_id}",{row.fingerprint},{row.effects}]'
    actor = "null" if row.actor is None else row.actor
    head = f'["{match_id}",{row.seq},"{row.kind}",{row.v},{row.at_ms},{actor},{command},'
    return hashlib.sha256(prev + head.encode() + row.payload + b"]").digest()


def chain(prev: bytes, match_id: UUID, rows: Iterable[Row]) -> tuple[Row, ...]:
    """The rows with their hashes filled in, each following the one before."""
    linked: list[Row] = []
    for row in rows:
        prev = link(prev, match_id, row)
        linked.append(msgspec.structs.replace(row, hash=prev))
    return tuple(linked)


def first_break(prev: bytes, match_id: UUID, rows: Iterable[Row]) -> int | None:
    """The place, from 1, of the first row whose hash does not follow; None if the chain holds."""
    for place, row in enumerate(rows, 1):
        if link(prev, match_id, row) != row.hash:
            return place
        prev = row.hash
    return None
