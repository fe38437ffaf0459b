"""Forged logs: rows changed in every way somebody with the database might change them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from matches.audit.report import Report
from matches.eventstore import hashing
from matches.eventstore.rows import Row
from tests.support.recording import Recorder, prove


def place(log: Recorder, kind: str, *, which: int = 0, actor: int | None = None) -> int:
    """Where the `which`-th event of a kind stands (from 0), of an actor if one is given."""
    found = [
        index
        for index, row in enumerate(log.rows)
        if row.kind == kind and (actor is None or row.actor == actor)
    ]
    return found[which]


def edited(row: Row, **changes: Any) -> Row:
    """The row with fields of its body changed; None takes a field out."""
    body = {**msgspec.json.decode(row.payload), **changes}
    kept = {key: value for key, value in body.items() if value is not None}
    return msgspec.structs.replace(row, payload=hashing.canonical(kept))


def swapped_in(rows: Sequence[Row], index: int, row: Row) -> list[Row]:
    """The rows with another one at a place."""
    return [*rows[:index], row, *rows[index + 1 :]]


def rechained(log: Recorder, rows: Sequence[Row]) -> list[Row]:
    """The rows numbered anew, with every hash made to fit: a forger with time."""
    numbered = [msgspec.structs.replace(row, seq=seq) for seq, row in enumerate(rows, 1)]
    return list(hashing.chain(hashing.GENESIS, log.match_id, numbered))


def verdict(
    log: Recorder, rows: Sequence[Row], *, version: int | None = None, head: bytes | None = None
) -> Report:
    """What is found; the head is the one that fits the rows, unless another is given."""
    return prove(
        match_id=log.match_id,
        version=len(rows) if version is None else version,
        head_hash=rows[-1].hash if head is None else head,
        rows=rows,
    )


def against_its_head(log: Recorder, rows: Sequence[Row]) -> Report:
    """What is found when the head was left as it was."""
    return verdict(log, rows, version=len(log.rows), head=log.rows[-1].hash)
