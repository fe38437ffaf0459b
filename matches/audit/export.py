"""The record of a match that anybody can check: format `xqmj-export@1`.

An export is the raw log, nothing left out and nothing added: every stored
event with its hash, and the head. Names of players, ratings and drawings are
not in it, because the log cannot prove them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol
from uuid import UUID

import msgspec

from matches.audit.report import wrong

FORMAT = "xqmj-export@1"

EVENTS_LIMIT = 20_000
"""More events than any match has; a longer record is refused unread."""
PAYLOAD_BYTES = 16_384
"""More than the body of any event has."""


class ExportedEvent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One stored event.

    `payload` is the body as it was written, before any upcasting. `command` is
    (id, fingerprint, number of events it caused) where a command begins, else
    None. `hash` is hex.
    """

    seq: int
    kind: str
    v: int
    at_ms: int
    actor: int | None
    command: tuple[str, int, int] | None
    payload: Any
    hash: str


class Export(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole match: `count` and `head_hash` are those of its head, which is kept apart."""

    format: str
    match_id: str
    count: int
    head_hash: str
    events: list[ExportedEvent]


class StoredEvent(Protocol):
    """A row of the log as the event store reads it; `payload` is canonical JSON."""

    seq: int
    kind: str
    v: int
    payload: bytes
    actor: int | None
    command_id: UUID | None
    fingerprint: int | None
    effects: int | None
    at_ms: int
    hash: bytes


def export(*, match_id: UUID, count: int, head_hash: bytes, rows: Iterable[StoredEvent]) -> Export:
    """The record of a match from its rows and its head, ready for `msgspec.json.encode`."""
    return Export(
        format=FORMAT,
        match_id=str(match_id),
        count=count,
        head_hash=head_hash.hex(),
        events=[_exported(row) for row in rows],
    )


def _exported(row: StoredEvent) -> ExportedEvent:
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
    """The record as an `Export`; raises `Wrong` bad_format or too_large."""
    try:
        events = record["events"]
        if isinstance(events, list) and len(events) > EVENTS_LIMIT:
            raise wrong("format", "too_large", None, f"more than {EVENTS_LIMIT} events")
        found = msgspec.convert(record, Export)
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise wrong("format", "bad_format", None, f"no {FORMAT}: {error}"[:300]) from None
    if found.format != FORMAT:
        raise wrong("format", "bad_format", None, f"the format is not {FORMAT}")
    return found
