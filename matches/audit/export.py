"""The record of a match that anybody can check: format `xqmj-export@1`.

An export is the raw log, nothing left out and nothing added: every stored
event with its hash, and the head, which is kept apart from the events. Names
of players, ratings and drawings are not in it, because the log cannot prove
them. docs/export.md describes it for a second implementation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec

from matches.audit.report import wrong
from matches.eventstore import hashing
from matches.eventstore.rows import Row
from matches.games.protocol import Seat

FORMAT: Literal["xqmj-export@1"] = "xqmj-export@1"

EVENTS_LIMIT = 20_000
"""More events than any match has; a longer record is refused unread."""
PAYLOAD_BYTES = 16_384
"""More than the body of any event has."""

_Count = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
_Version = Annotated[int, msgspec.Meta(ge=1, le=2**15 - 1)]
_Small = Annotated[int, msgspec.Meta(ge=0, le=2**15 - 1)]
_Long = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_Kind = Annotated[str, msgspec.Meta(pattern=r"\A[a-z0-9_]+\.[a-z0-9_]+\Z", max_length=64)]
_Id = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")]
_Hash = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]


class ExportedEvent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One stored event.

    `payload` is the body as it was written, before any upcasting. `command` is
    (id, fingerprint, number of events it caused) where a command begins, else
    None. `hash` is hex.
    """

    seq: _Count
    kind: _Kind
    v: _Version
    at_ms: _Long
    actor: _Small | None
    command: tuple[_Id, _Long, _Small] | None
    payload: Any
    hash: _Hash


class Export(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole match: `count` and `head_hash` are those of its head."""

    format: Literal["xqmj-export@1"]
    match_id: _Id
    count: _Count
    head_hash: _Hash
    events: list[ExportedEvent]


def export(*, match_id: UUID, count: int, head_hash: bytes, rows: Iterable[Row]) -> Export:
    """The record of a match from its head and rows, ready for `msgspec.json.encode`."""
    return Export(
        format=FORMAT,
        match_id=str(match_id),
        count=count,
        head_hash=head_hash.hex(),
        events=[_exported(row) for row in rows],
    )


def _exported(row: Row) -> ExportedEvent:
    command = None
    if row.command_id is not None:
        command = (str(row.command_id), row.fingerprint or 0, row.effects or 0)
    return ExportedEvent(
        seq=row.seq,
        kind=row.kind,
        v=row.v,
        at_ms=row.at_ms,
        actor=row.actor,
        command=command,
        payload=msgspec.Raw(row.payload),
        hash=row.hash.hex(),
    )


def parsed(record: Mapping[str, Any]) -> Export:
    """The decoded JSON of an export, checked for its form only.

    Raises `Wrong` bad_format or too_large.
    """
    try:
        events = record["events"]
        if isinstance(events, list) and len(events) > EVENTS_LIMIT:
            raise wrong("format", "too_large", None, f"more than {EVENTS_LIMIT} events")
        return msgspec.convert(record, Export)
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise wrong("format", "bad_format", None, f"no {FORMAT}: {error}"[:300]) from None


def rows_of(found: Export) -> list[Row]:
    """The rows of an export, each body in its canonical spelling.

    Raises `Wrong` bad_format or too_large.
    """
    return [_row(place, event) for place, event in enumerate(found.events, 1)]


def _row(place: int, event: ExportedEvent) -> Row:
    try:
        payload = hashing.canonical(event.payload)
    except (OverflowError, RecursionError, TypeError, ValueError) as error:
        text = f"the body of event {place} is no canonical JSON: {error}"[:300]
        raise wrong("format", "bad_format", place, text) from None
    if len(payload) > PAYLOAD_BYTES:
        raise wrong("format", "too_large", place, f"event {place} has {len(payload)} bytes")
    command = event.command
    return Row(
        seq=event.seq,
        kind=event.kind,
        v=event.v,
        payload=payload,
        actor=None if event.actor is None else Seat(event.actor),
        command_id=None if command is None else UUID(command[0]),
        fingerprint=None if command is None else command[1],
        effects=None if command is None else command[2],
        at_ms=event.at_ms,
        hash=bytes.fromhex(event.hash),
    )
