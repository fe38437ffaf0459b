"""The verification of one match: everything that its log claims, recomputed.

What it reads may be hostile: whatever it is given, the answer is a report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec

from matches.audit.export import parsed, rows_of
from matches.audit.replay import Replayed, replay
from matches.audit.report import Fault, Report, Wrong
from matches.audit.summary import report
from matches.domain import deal
from matches.domain.clock import Gap
from matches.domain.events import MatchCreated, MatchEnded, Stamped
from matches.eventstore import codec, hashing
from matches.eventstore.rows import Row
from matches.games.protocol import CorruptHistory

_NOTHING = Replayed(None, 0, 0, None)

_UNREADABLE = (CorruptHistory, LookupError, TypeError, ValueError)
"""What reading a forged event may raise: an upcaster trusts the body that it lifts."""


def verify(record: Mapping[str, Any]) -> Report:
    """Prove an export (`xqmj-export@1`, as decoded JSON) of a finished match.

    Never raises, whatever the record holds. Takes time and memory in proportion
    to the record, and refuses one that is larger than any match.
    """
    try:
        found = parsed(record)
        rows = rows_of(found)
    except Wrong as refused:
        return report(None, [refused.fault], _NOTHING, [])
    match_id = UUID(found.match_id)
    head_hash = bytes.fromhex(found.head_hash)
    finding = examine(match_id=match_id, version=found.count, head_hash=head_hash, rows=rows)
    return report(match_id, finding.faults, finding.replayed, finding.stampeds)


class Finding(msgspec.Struct, frozen=True):
    """What an examination found: faults in the order of events, and how far the log was proven."""

    faults: list[Fault]
    replayed: Replayed
    stampeds: list[Stamped]


def examine(
    *,
    match_id: UUID,
    version: int,
    head_hash: bytes,
    rows: Sequence[Row],
    secret: bytes | None = None,
    gaps: tuple[Gap, ...] | None = None,
) -> Finding:
    """Prove the raw rows of a match against its head (`version`, `head_hash`).

    `secret` is that of a live match, which has not revealed it yet; without it
    the match has to be over. `gaps` are the recorded times in which the service
    was down, in order; None where they are not known.
    """
    faults = [*_sequence(rows), *_repeated(rows), *_chain(match_id, rows)]
    stampeds = _decoded(rows[: _sound(faults)], faults)
    known = _revealed(rows, faults) if secret is None else secret
    replayed = _NOTHING
    if stampeds and known is not None and _fits(stampeds[0], known, len(rows), faults):
        sound = stampeds[: _sound(faults)]
        replayed = replay(
            match_id=match_id.bytes, rows=rows, stampeds=sound, secret=known, gaps=gaps
        )
        faults += _of_replay(replayed, cut=len(sound) < len(rows))
    faults += _head(version, head_hash, rows)
    return Finding(sorted(faults, key=_place), replayed, stampeds)


def _place(fault: Fault) -> float:
    return float("inf") if fault.seq is None else fault.seq


def _sound(faults: Sequence[Fault]) -> int | None:
    """How many events stand before the first that is wrong; None: all."""
    return min((fault.seq - 1 for fault in faults if fault.seq is not None), default=None)


def _sequence(rows: Sequence[Row]) -> Iterator[Fault]:
    if not rows:
        yield Fault("sequence", "not_dense", 1, "there are no events")
    for place, row in enumerate(rows, 1):
        if row.seq != place:
            text = f"event {place} is missing, {row.seq} stands in its place"
            yield Fault("sequence", "not_dense", place, text)
            return


def _repeated(rows: Sequence[Row]) -> Iterator[Fault]:
    seen: set[UUID] = set()
    for place, row in enumerate(rows, 1):
        if row.command_id is not None:
            if row.command_id in seen:
                text = f"the command {row.command_id} stands in the log twice"
                yield Fault("commands", "repeated_command", place, text)
                return
            seen.add(row.command_id)


def _chain(match_id: UUID, rows: Sequence[Row]) -> Iterator[Fault]:
    place = hashing.first_break(hashing.GENESIS, match_id, rows)
    if place is not None:
        text = "its hash does not follow from it and from the hash before it"
        yield Fault("chain", "hash_mismatch", place, text)


def _decoded(rows: Sequence[Row], faults: list[Fault]) -> list[Stamped]:
    """The events up to the first that cannot be read, which is added to the faults."""
    try:
        return codec.decode_rows(rows)
    except _UNREADABLE:
        pass
    stampeds: list[Stamped] = []
    for row in rows:
        try:
            stampeds.append(codec.decode(row))
        except _UNREADABLE as corrupt:
            faults.append(Fault("commands", "unknown_event", row.seq, str(corrupt)[:300]))
            break
    return stampeds


def _revealed(rows: Sequence[Row], faults: list[Fault]) -> bytes | None:
    """The secret that the last event reveals; None, and a fault, where there is none."""
    try:
        event = codec.decode(rows[-1]).event if rows else None
        if isinstance(event, MatchEnded):
            return bytes.fromhex(event.secret)
    except _UNREADABLE:
        pass
    faults.append(Fault("result", "no_end", len(rows) + 1, "the log does not end with match.ended"))
    return None


def _fits(first: Stamped, secret: bytes, last: int, faults: list[Fault]) -> bool:
    created = first.event
    if isinstance(created, MatchCreated) and deal.commitment(secret) != created.commitment:
        text = "the secret it reveals is not the one of the commitment in event 1"
        faults.append(Fault("commitment", "secret_mismatch", last, text))
        return False
    return True


def _of_replay(replayed: Replayed, *, cut: bool) -> Iterator[Fault]:
    """The fault of the replay, unless it is just that the events were `cut` at another fault."""
    fault = replayed.fault
    if fault is not None and not (cut and fault.code == "missing_effect"):
        yield fault


def _head(version: int, head_hash: bytes, rows: Sequence[Row]) -> Iterator[Fault]:
    if version > len(rows):
        text = f"the head counts {version} events, {len(rows)} are there"
        yield Fault("head", "tail_missing", len(rows) + 1, text)
    elif version < len(rows):
        text = f"the head counts {version} events, {len(rows)} are there"
        yield Fault("head", "head_count", version + 1, text)
    elif rows and rows[-1].hash != head_hash:
        text = "the hash in the head is not that of the last event"
        yield Fault("head", "head_hash", None, text)
