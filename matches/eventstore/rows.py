"""The shapes in which the log's rows leave and enter the database."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

import msgspec

from matches.domain.clock import Gap
from matches.domain.events import EndReason
from matches.games.protocol import Seat

LIVE, FINISHED, ABORTED = 1, 2, 3
"""A head's status: being played or prepared; ended with a result; ended before it began."""


class CommandKey(msgspec.Struct, frozen=True):
    """Names one request for ever; `fingerprint` (signed, 64 bits) tells another body apart."""

    command_id: UUID
    fingerprint: int


class Row(msgspec.Struct, frozen=True, gc=False):
    """One event as the log keeps it.

    `payload` is canonical JSON, the very bytes that `hash` covers. The command's
    id, fingerprint and number of effects stand on the first event it caused.
    """

    seq: int
    kind: str
    v: int
    payload: bytes
    actor: Seat | None
    command_id: UUID | None
    fingerprint: int | None
    effects: int | None
    at_ms: int
    hash: bytes


class Head(msgspec.Struct, frozen=True):
    """Where a match's stream ends. Nothing of it may reach a player: it counts hidden events.

    `due_at_ms` has the grace of a deadline added.
    """

    match_id: UUID
    ruleset: str
    rules_version: int
    version: int
    status: int
    due_at_ms: int | None
    head_hash: bytes


class Loaded(msgspec.Struct, frozen=True):
    """What one trip brings: all of it of one instant.

    `now_ms` is the database clock, `alive_ms` the newest heartbeat (0: none
    ever), `gaps` the times without service that ended after the newest event,
    in order. `hash_at` is the hash of the event after which `rows` begin, None
    if there is no such event.
    """

    head: Head
    now_ms: int
    alive_ms: int
    gaps: tuple[Gap, ...]
    hash_at: bytes | None
    rows: tuple[Row, ...]


class Summary(msgspec.Struct, frozen=True):
    """How a match ended; `winner` is a seat, None for a draw or an aborted match."""

    reason: EndReason
    winner: int | None
    scores: tuple[int, ...]


class Appended(msgspec.Struct, frozen=True):
    """What became of an append.

    `version` is that of the match after `ok`; of the first event of the command
    after `replayed`; of the match as it is after `stale` (somebody was faster,
    or the caller's history is not the log's) and `closed` (it has ended); 0
    after `unknown`, and after `busy`: whoever would sit down sits in another
    live rated match.
    """

    outcome: Literal["ok", "replayed", "stale", "closed", "unknown", "busy"]
    version: int


class Created(msgspec.Struct, frozen=True):
    """What became of a creation: `match_id` is the match that the request made, now or before.

    After `busy` (a player sits in another live rated match) it was not made.
    """

    outcome: Literal["ok", "replayed", "key_reused", "busy"]
    match_id: UUID


class Beat(msgspec.Struct, frozen=True):
    """The heartbeat just recorded: the service is known to be reachable up to `now_ms`."""

    now_ms: int

    @property
    def alive_ms(self) -> int:
        """The instant of the beat, which is now."""
        return self.now_ms


class DueMatches(msgspec.Struct, frozen=True):
    """Matches to settle, (match id, due at) longest due first, and the database clock."""

    matches: tuple[tuple[UUID, int], ...]
    now_ms: int


class Listed(msgspec.Struct, frozen=True):
    """A match in a list: nothing in it changes with an event that is hidden from somebody.

    `players` are (seat, player) of the seats taken.
    """

    match_id: UUID
    created_at_ms: int
    ruleset: str
    rules_version: int
    control: str
    rated: bool
    status: int
    players: tuple[tuple[int, str], ...]
    ended_at_ms: int | None
    summary: Summary | None


class Finished(msgspec.Struct, frozen=True):
    """A finished match in the order of commits; `cursor` continues after it."""

    cursor: tuple[int, UUID]
    match: Listed
