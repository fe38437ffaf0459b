"""The verification of what stands in the database: logs, heads and seats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

import msgspec
from django.conf import settings
from django.db import connection

from matches.audit.report import Fault, Report
from matches.audit.summary import report
from matches.audit.verify import examine
from matches.domain import deal
from matches.domain import match as domain
from matches.domain.clock import Gap
from matches.domain.events import MatchCreated, Stamped
from matches.domain.state import Match
from matches.eventstore import codec, sealing, store
from matches.eventstore.rows import LIVE, Row
from matches.games.protocol import CorruptHistory
from matches.services import steps

BATCH = 50
"""Matches read in one statement: a few megabytes."""
STREAMS = 1_000
"""Streams whose heads are looked for in one statement."""

# One statement is one snapshot: a match that goes on meanwhile is seen whole or not yet.
_STORED = """
SELECT h.match_id, h.version, h.head_hash, h.ruleset, h.rules_version, h.control, h.rated,
       h.created_at_ms, h.at_ms, h.status, h.due_at_ms, h.due_is_deadline, h.ended_at_ms,
       h.reason, h.winner, array_to_json(h.scores)::text,
       (SELECT json_agg(json_build_array(s.seat, replace(s.player::text, '-', ''))
                        ORDER BY s.seat)::text
          FROM es.match_seat s WHERE s.match_id = h.match_id),
       (SELECT replace(c.creator::text, '-', '')
          FROM es.match_creation c WHERE c.match_id = h.match_id),
       (SELECT json_agg(json_build_array(g.from_ms, g.until_ms) ORDER BY g.until_ms)::text
          FROM es.service_gap g
         WHERE g.until_ms > h.created_at_ms AND g.from_ms < coalesce(h.ended_at_ms, g.until_ms)),
       (SELECT json_agg(json_build_array(
                   e.seq, e.kind, e.v, e.payload, e.actor, e.command_id, e.fingerprint,
                   e.effects, e.at_ms, translate(encode(e.hash, 'base64'), E'\\n', ''))
               ORDER BY e.seq)::text
          FROM es.match_event e WHERE e.match_id = h.match_id)
  FROM es.match_head h
"""
_SOME = f"{_STORED} WHERE h.match_id = ANY(%s) ORDER BY h.match_id"
_NEXT = f"{_STORED} WHERE h.match_id > %s AND h.status >= %s ORDER BY h.match_id LIMIT %s"
_COUNT = "SELECT count(*), coalesce(sum(version), 0) FROM es.match_head WHERE status >= %s"
# From stream to stream by the key, instead of through every event; a stream may lack its beginning.
_STREAMS = """
WITH RECURSIVE stream (match_id, place) AS (
    (SELECT e.match_id, 1 FROM es.match_event e
      WHERE e.match_id > %s ORDER BY e.match_id LIMIT 1)
    UNION ALL
    SELECT beyond.match_id, s.place + 1
      FROM stream s, LATERAL (
           SELECT e.match_id FROM es.match_event e
            WHERE e.match_id > s.match_id ORDER BY e.match_id LIMIT 1) beyond
     WHERE s.place < %s
)
SELECT s.match_id, h.match_id IS NULL
  FROM stream s LEFT JOIN es.match_head h USING (match_id) ORDER BY s.place
"""

_decode_pairs = msgspec.json.Decoder(tuple[tuple[int, int], ...]).decode
_decode_seats = msgspec.json.Decoder(tuple[tuple[int, str], ...]).decode
_decode_scores = msgspec.json.Decoder(tuple[int, ...]).decode


class HeadFacts(msgspec.Struct, frozen=True):
    """What a head says beside the number and the hash of the last event."""

    ruleset: str
    rules_version: int
    control: str
    rated: bool
    created_at_ms: int
    at_ms: int
    status: int
    due_at_ms: int | None
    due_is_deadline: bool
    ended_at_ms: int | None
    reason: str | None
    winner: int | None
    scores: tuple[int, ...] | None


class Stored(msgspec.Struct, frozen=True):
    """One match as the database holds it; `gaps` are the recorded downtimes of its life."""

    match_id: UUID
    version: int
    head_hash: bytes
    head: HeadFacts
    seats: tuple[tuple[int, str], ...]
    creator: str | None
    gaps: tuple[Gap, ...]
    rows: tuple[Row, ...]


def total(*, ended_only: bool) -> tuple[int, int]:
    """How many matches there are, and how many events they count."""
    ((matches, events),) = _fetched(_COUNT, (_lowest(ended_only),))
    return int(matches), int(events)


def some(match_ids: Sequence[UUID]) -> Iterator[Stored]:
    """The matches with these ids, as far as they exist."""
    for start in range(0, len(match_ids), BATCH):
        for row in _fetched(_SOME, (list(match_ids[start : start + BATCH]),)):
            yield _stored(*row)


def all_matches(*, ended_only: bool) -> Iterator[Stored]:
    """Every match in the order of ids, a batch at a time."""
    last = UUID(int=0)
    while rows := _fetched(_NEXT, (last, _lowest(ended_only), BATCH)):
        for row in rows:
            yield _stored(*row)
        last = rows[-1][0]


def headless() -> Iterator[UUID]:
    """Matches that have events and no head: something was taken away."""
    last = UUID(int=0)
    while rows := _fetched(_STREAMS, (last, STREAMS)):
        for match_id, is_headless in rows:
            if is_headless:
                yield match_id
        last = rows[-1][0]


def check(stored: Stored) -> Report:
    """Prove a match against everything that the database says about it."""
    live = stored.head.status == LIVE
    secret, broken = _unsealed(stored)
    finding = examine(
        match_id=stored.match_id,
        version=stored.version,
        head_hash=stored.head_hash,
        rows=stored.rows,
        secret=secret if live else None,
        gaps=stored.gaps,
    )
    faults = finding.faults
    if broken is not None:
        # A live match whose secret is not to be had cannot be told from one without an end.
        faults = [broken, *(fault for fault in faults if not live or fault.code != "no_end")]
    if not faults and finding.replayed.match is not None:
        faults = [*_beside(stored, finding.replayed.match, finding.stampeds[0])]
    return report(stored.match_id, faults, finding.replayed, finding.stampeds)


def _unsealed(stored: Stored) -> tuple[bytes | None, Fault | None]:
    """The sealed secret, and what is wrong with the seal.

    An ended match has revealed its secret, so its key may be gone by now; but
    where it is at hand the seal must hold what was committed to.
    """
    try:
        created = codec.decode(stored.rows[0]).event if stored.rows else None
    except (CorruptHistory, LookupError, TypeError, ValueError):
        return None, None
    if not isinstance(created, MatchCreated):
        return None, None
    if stored.head.status != LIVE and created.key_id not in settings.XQMJ_SEAL_KEYS:
        return None, None
    try:
        secret = sealing.unseal(created.sealed, created.key_id, stored.match_id)
    except sealing.SealBroken as error:
        return None, Fault("commitment", "secret_sealed", 1, str(error))
    if deal.commitment(secret) != created.commitment:
        text = "the sealed secret is not the one of the commitment"
        return None, Fault("commitment", "secret_mismatch", 1, text)
    return secret, None


def _beside(stored: Stored, match: Match, first: Stamped) -> Iterator[Fault]:
    """What head and seats say otherwise than the events."""
    right, told = _facts(match, first), stored.head
    for name in right.__struct_fields__:
        expected, found = getattr(right, name), getattr(told, name)
        if expected != found:
            yield Fault("head", "head_facts", None, f"{name} is {found}, not {expected}")
            break
    sitting = tuple((seat, one) for seat, one in enumerate(match.players) if one is not None)
    if stored.seats != sitting:
        yield Fault("head", "seat_facts", None, f"seats are {stored.seats}, not {sitting}")
    elif stored.creator not in (None, match.players[0]):
        yield Fault("head", "seat_facts", None, f"{stored.creator} did not make the match")


def _facts(match: Match, first: Stamped) -> HeadFacts:
    created, ended, due = match.setup.created, match.ended, domain.due_at(match)
    return HeadFacts(
        ruleset=created.ruleset,
        rules_version=created.rules_version,
        control=created.control,
        rated=created.rated,
        created_at_ms=first.at_ms,
        at_ms=match.at_ms,
        status=steps.status_of(match),
        due_at_ms=None if due is None else due.look_at_ms,
        due_is_deadline=due is not None and due.deadline,
        ended_at_ms=None if ended is None else match.at_ms,
        reason=None if ended is None else ended.reason,
        winner=None if ended is None else ended.winner,
        scores=None if ended is None else ended.scores,
    )


def _lowest(ended_only: bool) -> int:
    """The lowest status that is asked for: live is the lowest there is."""
    return LIVE + 1 if ended_only else LIVE


def _fetched(statement: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def _stored(*columns: Any) -> Stored:
    match_id, version, head_hash, *facts = columns[:15]
    scores, seats, creator, gaps, events = columns[15:]
    facts.append(None if scores is None else _decode_scores(scores))
    return Stored(
        match_id=match_id,
        version=version,
        head_hash=bytes(head_hash),
        head=HeadFacts(*facts),
        seats=_decode_seats(seats) if seats else (),
        creator=creator,
        gaps=tuple(Gap(*gap) for gap in _decode_pairs(gaps)) if gaps else (),
        rows=store.read_rows(events.encode()) if events else (),
    )
