"""The steps of one try that need neither store nor clock: reading, settling, summing up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID

import msgspec

from matches.domain import match as domain
from matches.domain.clock import GRACE_MS, Gap
from matches.domain.events import MatchCreated, SeatTaken, Stamped
from matches.domain.state import Match, Moved
from matches.domain.visibility import line
from matches.eventstore import codec, sealing
from matches.eventstore.rows import ABORTED, FINISHED, LIVE, Loaded, Row, Summary
from matches.games.protocol import CorruptHistory, SeatViewer, Viewer
from matches.services.cache import Done, Entry, History
from matches.services.errors import ServiceError


class Found(msgspec.Struct, frozen=True):
    """What one trip found: the match, the newest heartbeat, the newer gaps in service."""

    entry: Entry
    alive_ms: int
    gaps: tuple[Gap, ...]


def read(match_id: UUID, loaded: Loaded) -> Entry:
    """The match folded from its first event on; raises `CorruptHistory`, `SealBroken`."""
    events = codec.decode_rows(loaded.rows)
    if not events or not isinstance(events[0].event, MatchCreated):
        raise CorruptHistory("a match begins with match.created")
    created = events[0].event
    secret = sealing.unseal(created.sealed, created.key_id, match_id)
    first = domain.begin(match_id=match_id.bytes, created=events[0], secret=secret)
    history = History(first, events[0])
    history.grow(1, events[1:], commands(loaded.rows))
    return _entry(match_id, domain.fold(first, events[1:]), history, loaded)


def advanced(known: Entry, loaded: Loaded) -> Entry:
    """The match as known, folded on by the rows after it; raises `CorruptHistory`."""
    if not loaded.rows:
        return msgspec.structs.replace(known, now_ms=loaded.now_ms)
    events = codec.decode_rows(loaded.rows)
    after = domain.fold(known.match, events)
    known.history.grow(known.version, events, commands(loaded.rows))
    return _entry(known.match_id, after, known.history, loaded)


def _entry(match_id: UUID, match: Match, history: History, loaded: Loaded) -> Entry:
    if match.version != loaded.head.version:
        raise CorruptHistory(f"{match.version} events under a head of {loaded.head.version}")
    return Entry(match_id, match, loaded.head.head_hash, loaded.now_ms, history)


def owed_before(found: Found, viewer: Viewer, at_ms: int) -> Moved:
    """What the table owes before a command received at `at_ms`, and the match after it.

    Only the deadline that runs against the sender alone is judged to the
    millisecond. Any other is given the grace in which somebody else's command
    that was stamped in time may still reach the log, so that nobody can
    overtake it by sending junk.
    """
    limit_ms = min(at_ms, found.entry.now_ms - GRACE_MS, found.alive_ms)
    match = found.entry.match
    match, owed = domain.settle(match, now_ms=at_ms, deadline_ms=limit_ms, gaps=found.gaps)
    due = domain.due_at(match)
    own = isinstance(viewer, SeatViewer) and due is not None and due.seat == viewer.seat
    if due is not None and due.deadline and own and due.at_ms <= at_ms:
        limit_ms = min(at_ms, found.alive_ms)
        match, more = domain.settle(match, now_ms=at_ms, deadline_ms=limit_ms, gaps=found.gaps)
        owed = (*owed, *more)
    return Moved(match, owed)


def check_open(match: Match) -> None:
    """Refuse with match_ended where the match is over."""
    if match.ended is not None:
        raise ServiceError("match_ended")


def check_seen(
    entry: Entry, owed: Sequence[Stamped], viewer: Viewer, expected_seq: int | None
) -> None:
    """Refuse with stale_seq unless the viewer has seen every line, those still owed included."""
    if expected_seq is None:
        return
    seq, match = entry.seq(viewer), entry.match
    for stamped in owed:
        match = domain.evolve(match, stamped)
        seq += line(match, stamped, viewer, seq=0) is not None
    if seq != expected_seq:
        raise ServiceError("stale_seq", {"seq": seq})


def commands(rows: Sequence[Row]) -> Iterator[tuple[UUID, Done]]:
    """The commands that the rows hold."""
    for row in rows:
        if row.command_id is not None:
            yield row.command_id, Done(row.seq, row.effects or 1, row.fingerprint or 0)


def status_of(match: Match) -> int:
    """The head's status."""
    if match.ended is None:
        return LIVE
    return ABORTED if match.ended.reason == "aborted" else FINISHED


def summary_of(match: Match) -> Summary | None:
    """How the match ended, None while it lives."""
    ended = match.ended
    return None if ended is None else Summary(ended.reason, ended.winner, ended.scores)


def taken_by(events: Sequence[Stamped]) -> list[tuple[int, str]]:
    """The seats taken, with who took them."""
    return [
        (stamped.event.seat, stamped.event.player)
        for stamped in events
        if isinstance(stamped.event, SeatTaken)
    ]
