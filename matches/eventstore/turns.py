"""The rows that remind workers of the computer's turns: beside the log, and hints only.

They are written without waiting for the disk. Each function is one statement in
one round trip, may be repeated, and raises `Unavailable`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from uuid import UUID

import msgspec

from matches.eventstore import pool

LEASE_MS = 1_000
"""Whoever takes a row has this long to act; then somebody else may."""

# A row gives way to a newer version only: notes may come late and in any order.
_NOTE = """
WITH noted AS (
    INSERT INTO matches_computer_turn AS t (match_id, version, due_ms)
    SELECT * FROM unnest(%s::uuid[], %s::integer[], %s::bigint[])
    ON CONFLICT (match_id) DO UPDATE SET version = excluded.version, due_ms = excluded.due_ms
     WHERE t.version < excluded.version
    RETURNING 1)
SELECT count(*), set_config('synchronous_commit', 'off', true) FROM noted
"""
_TAKE = """
WITH clock AS MATERIALIZED (SELECT es.now_ms() AS ms),
due AS (
    SELECT t.match_id FROM matches_computer_turn t
     WHERE t.due_ms <= (SELECT ms FROM clock) AND t.match_id <> ALL (%s::uuid[])
     ORDER BY t.due_ms LIMIT %s FOR UPDATE SKIP LOCKED),
taken AS (
    UPDATE matches_computer_turn t SET due_ms = (SELECT ms FROM clock) + %s::bigint
      FROM due WHERE t.match_id = due.match_id RETURNING t.match_id)
SELECT ms, (SELECT array_agg(match_id) FROM taken),
       (SELECT min(t.due_ms) FROM matches_computer_turn t WHERE t.due_ms > ms),
       set_config('synchronous_commit', 'off', true)
  FROM clock
"""
_LOST = """
SELECT h.match_id
  FROM es.match_head h JOIN es.match_seat s ON s.match_id = h.match_id
  LEFT JOIN matches_computer_turn t ON t.match_id = h.match_id
 WHERE h.status = 1 AND h.due_at_ms IS NOT NULL AND s.player = ANY (%s::uuid[])
   AND t.version IS DISTINCT FROM h.version AND h.match_id <> ALL (%s::uuid[])
 LIMIT %s
"""
_FORGET = """
WITH over AS (
    SELECT t.match_id FROM matches_computer_turn t JOIN es.match_head h ON h.match_id = t.match_id
     WHERE h.status <> 1 ORDER BY t.match_id FOR UPDATE OF t SKIP LOCKED),
forgotten AS (
    DELETE FROM matches_computer_turn t USING over WHERE t.match_id = over.match_id RETURNING 1)
SELECT count(*) FROM forgotten
"""


class Turn(msgspec.Struct, frozen=True):
    """When the computer acts next in a match that stands at `version`; None: it waits."""

    match_id: UUID
    version: int
    due_ms: int | None


class Taken(msgspec.Struct, frozen=True):
    """The matches whose row was due, the database clock, and when the next row is due."""

    match_ids: tuple[UUID, ...]
    now_ms: int
    next_due_ms: int | None


def note(turns: Iterable[Turn]) -> None:
    """Write a row for each match, unless a row of the same or a newer version is there."""
    newest: dict[UUID, Turn] = {}
    for turn in turns:
        known = newest.get(turn.match_id)
        if known is None or known.version < turn.version:
            newest[turn.match_id] = turn
    # In one order everywhere: two notes at the same time never wait for each other.
    ordered = [newest[match_id] for match_id in sorted(newest)]
    pool.run(
        _NOTE,
        (
            _array(str(turn.match_id) for turn in ordered),
            _array(str(turn.version) for turn in ordered),
            _array("NULL" if turn.due_ms is None else str(turn.due_ms) for turn in ordered),
        ),
    )


def take(limit: int, exclude: Collection[UUID] = ()) -> Taken:
    """Take up to `limit` rows that are due, longest due first, for `LEASE_MS`.

    Nobody else gets one of them before that time is over, and then anybody does
    unless it was written anew in the meantime: so nothing is lost with whoever took it.
    """
    answer = pool.run(_TAKE, (_array(map(str, exclude)), str(limit), str(LEASE_MS)))
    ((now_ms, match_ids, next_due_ms, _),) = answer.rows
    return Taken(tuple(match_ids or ()), now_ms, next_due_ms)


def lost(players: Sequence[str], limit: int, exclude: Collection[UUID] = ()) -> list[UUID]:
    """Live matches of these players (ids in hex) whose row is missing or old."""
    asked = (_array(players), _array(map(str, exclude)), str(limit))
    return [match_id for (match_id,) in pool.run(_LOST, asked).rows]


def forget_ended() -> int:
    """Delete the rows of matches that are over; returns how many that were."""
    ((forgotten,),) = pool.run(_FORGET, ()).rows
    return int(forgotten)


def _array(values: Iterable[str]) -> str:
    return "{" + ",".join(values) + "}"
