"""The event store in memory: the same answers under the same constraints, on a clock of the test.

It refuses what the real one's schema refuses: a gap in the numbers, a command
twice, a hash that does not follow, anything after the end.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from matches.domain.clock import GRACE_MS, Due, Gap
from matches.eventstore import hashing
from matches.eventstore.rows import (
    LIVE,
    Appended,
    Beat,
    CommandKey,
    Created,
    DueMatches,
    Head,
    Listed,
    Loaded,
    Row,
    Summary,
)
from matches.eventstore.store import GAP_THRESHOLD_MS


class Clock:
    """A clock that stands still until the test moves it."""

    def __init__(self, ms: int = 1_700_000_000_000) -> None:
        self.ms = ms

    def __call__(self) -> int:
        return self.ms

    def advance(self, ms: int) -> None:
        """Let time pass."""
        self.ms += ms

    def sleep(self, seconds: float) -> None:
        """What stands in for `time.sleep`."""
        self.ms += round(seconds * 1000)


@dataclass
class Stream:
    """One match: its head and its rows."""

    match_id: UUID
    created_at_ms: int
    ruleset: str
    rules_version: int
    control: str
    rated: bool
    rows: list[Row] = field(default_factory=list)
    seats: dict[int, str] = field(default_factory=dict)
    commands: dict[UUID, int] = field(default_factory=dict)
    status: int = LIVE
    due_at_ms: int | None = None
    due_is_deadline: bool = False
    summary: Summary | None = None
    ended_order: int = 0

    @property
    def invited(self) -> str | None:
        """Whom the match keeps a seat for."""
        found: str | None = json.loads(self.rows[0].payload).get("invited")
        return found

    @property
    def head_hash(self) -> bytes:
        """The hash of the last row."""
        return self.rows[-1].hash if self.rows else hashing.GENESIS

    def hash_at(self, version: int) -> bytes | None:
        """The hash after a version, None where there is no such version."""
        if version == 0:
            return hashing.GENESIS
        return self.rows[version - 1].hash if version <= len(self.rows) else None

    def add(self, rows: Sequence[Row], status: int, due: Due | None) -> None:
        """Add rows that must follow."""
        assert self.status == LIVE, "nothing follows the end"
        assert rows, "an append has at least one row"
        assert hashing.first_break(self.head_hash, self.match_id, rows) is None
        for row in rows:
            assert row.seq == len(self.rows) + 1, "the numbers are dense"
            if self.rows:
                assert row.at_ms >= self.rows[-1].at_ms, "time does not run backwards"
            if row.command_id is not None:
                assert row.command_id not in self.commands, "a command stands once"
                self.commands[row.command_id] = row.seq
            self.rows.append(row)
        self.status = status
        assert status == LIVE or due is None, "nothing is due after the end"
        self.due_at_ms = None if due is None else due.at_ms + GRACE_MS * due.deadline
        self.due_is_deadline = due is not None and due.deadline


class MemoryStore:
    """A log that ends with the test. `trips` counts calls by name."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.alive_ms: int | None = clock()
        self.gaps: list[Gap] = []
        self.streams: dict[UUID, Stream] = {}
        self.creations: dict[tuple[str, UUID], tuple[UUID, int]] = {}
        self.trips: list[str] = []
        self._order = 0
        self._lock = threading.RLock()

    # --- what the event store answers ---------------------------------------------------------

    def now(self) -> int:
        self.trips.append("now")
        return self.clock()

    def load(self, match_id: UUID, *, after_version: int = 0) -> Loaded | None:
        self.trips.append("load")
        with self._lock:
            stream = self.streams.get(match_id)
            if stream is None:
                return None
            newest_ms = stream.rows[-1].at_ms
            gaps = [gap for gap in self.gaps if gap.until_ms > newest_ms]
            return Loaded(
                head=self._head(stream),
                now_ms=self.clock(),
                alive_ms=self.alive_ms or 0,
                gaps=tuple(gaps) if stream.status == LIVE else (),
                hash_at=stream.hash_at(after_version),
                rows=tuple(stream.rows[after_version:]),
            )

    def append(
        self,
        *,
        match_id: UUID,
        expected_version: int,
        prev_hash: bytes,
        rows: Sequence[Row],
        status: int,
        due: Due | None,
        taken: Sequence[tuple[int, str]] = (),
        summary: Summary | None = None,
    ) -> Appended:
        self.trips.append("append")
        with self._lock:
            stream = self.streams.get(match_id)
            if stream is None:
                return Appended("unknown", 0)
            for row in rows:
                if row.command_id is not None and row.command_id in stream.commands:
                    return Appended("replayed", stream.commands[row.command_id])
            if stream.rated and self._elsewhere(match_id, (player for _, player in taken)):
                return Appended("busy", 0)
            if stream.status != LIVE:
                return Appended("closed", len(stream.rows))
            if (len(stream.rows), stream.head_hash) != (expected_version, prev_hash):
                return Appended("stale", len(stream.rows))
            stream.add(rows, status, due)
            for seat, player in taken:
                assert seat not in stream.seats, "a seat is taken once"
                stream.seats[seat] = player
            assert (summary is None) == (status == LIVE)
            stream.summary = summary
            if status != LIVE:
                self._order += 1
                stream.ended_order = self._order
            return Appended("ok", len(stream.rows))

    def create(
        self,
        *,
        match_id: UUID,
        creator: str,
        key: CommandKey | None,
        rows: Sequence[Row],
        ruleset: str,
        rules_version: int,
        control: str,
        rated: bool,
        players: Sequence[str | None],
        due: Due | None,
    ) -> Created:
        self.trips.append("create")
        with self._lock:
            if key is not None:
                made = self.creations.get((creator, key.command_id))
                if made is not None:
                    same = made[1] == key.fingerprint
                    return Created("replayed" if same else "key_reused", made[0])
            if rated and self._elsewhere(match_id, players):
                return Created("busy", match_id)
            if key is not None:
                self.creations[creator, key.command_id] = (match_id, key.fingerprint)
            if match_id in self.streams:
                return Created("replayed", match_id)
            stream = Stream(match_id, rows[0].at_ms, ruleset, rules_version, control, rated)
            stream.add(rows, LIVE, due)
            stream.seats = {seat: who for seat, who in enumerate(players) if who is not None}
            self.streams[match_id] = stream
            return Created("ok", match_id)

    def created_by(self, creator: str, key: CommandKey) -> Created | None:
        self.trips.append("created_by")
        with self._lock:
            made = self.creations.get((creator, key.command_id))
        if made is None:
            return None
        return Created("replayed" if made[1] == key.fingerprint else "key_reused", made[0])

    def beat(self) -> Beat:
        self.trips.append("beat")
        with self._lock:
            now_ms, alive_ms = self.clock(), self.alive_ms
            if alive_ms is not None and now_ms - alive_ms > GAP_THRESHOLD_MS:
                self.gaps.append(Gap(alive_ms, now_ms))
            self.alive_ms = now_ms
            return Beat(now_ms)

    def due(self, limit: int, exclude: Collection[UUID] = ()) -> DueMatches:
        self.trips.append("due")
        with self._lock:
            now_ms = self.clock()
            found = [
                (stream.due_at_ms, match_id)
                for match_id, stream in self.streams.items()
                if stream.status == LIVE
                and stream.due_at_ms is not None
                and stream.due_at_ms <= now_ms
                and match_id not in exclude
                and not self._beyond_the_beat(stream)
            ]
            ordered = sorted(found)[:limit]
            return DueMatches(tuple((match_id, at_ms) for at_ms, match_id in ordered), now_ms)

    def my_matches(
        self,
        player: str,
        *,
        before: tuple[int, UUID] | None = None,
        limit: int,
        status: int | None = None,
    ) -> list[Listed]:
        with self._lock:
            mine = [
                stream
                for stream in self.streams.values()
                if (
                    player in stream.seats.values()
                    or (player == stream.invited and stream.status == LIVE)
                )
                and status in (None, stream.status)
                and (before is None or (stream.created_at_ms, stream.match_id) < before)
            ]
            mine.sort(key=lambda stream: (stream.created_at_ms, stream.match_id), reverse=True)
            return [self._listed(stream) for stream in mine[:limit]]

    # --- what a test asks ---------------------------------------------------------------------

    def rows(self, match_id: UUID) -> tuple[Row, ...]:
        """Every row of a match."""
        with self._lock:
            return tuple(self.streams[match_id].rows)

    def _elsewhere(self, match_id: UUID, players: Iterable[str | None]) -> bool:
        """Whether one of the players sits in another live rated match."""
        sitting = {
            player
            for stream in self.streams.values()
            if stream.rated and stream.status == LIVE and stream.match_id != match_id
            for player in stream.seats.values()
        }
        return not sitting.isdisjoint(players)

    def _beyond_the_beat(self, stream: Stream) -> bool:
        if not stream.due_is_deadline or stream.due_at_ms is None:
            return False
        return stream.due_at_ms - GRACE_MS > (self.alive_ms or 0)

    def _head(self, stream: Stream) -> Head:
        return Head(
            stream.match_id,
            stream.ruleset,
            stream.rules_version,
            len(stream.rows),
            stream.status,
            stream.due_at_ms,
            stream.head_hash,
        )

    def _listed(self, stream: Stream) -> Listed:
        return Listed(
            stream.match_id,
            stream.created_at_ms,
            stream.ruleset,
            stream.rules_version,
            stream.control,
            stream.rated,
            stream.status,
            tuple(sorted(stream.seats.items())),
            stream.rows[-1].at_ms if stream.status != LIVE else None,
            stream.summary,
        )
