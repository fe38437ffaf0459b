"""The event store: load a match in one trip, append to it in one call.

Every function is one statement in one round trip, in autocommit, and raises
`Unavailable` when the database cannot be reached or takes too long. All of them
may be repeated safely.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any
from uuid import UUID

import msgspec

from matches.domain.clock import GRACE_MS, OPEN_MS, READY_MS, Due, Gap
from matches.eventstore import pool
from matches.eventstore.hashing import GENESIS
from matches.eventstore.rows import (
    Appended,
    Beat,
    CommandKey,
    Created,
    DueMatches,
    Finished,
    Head,
    Listed,
    Loaded,
    Row,
    Summary,
)
from matches.games.protocol import Seat

Unavailable = pool.Unavailable

GAP_THRESHOLD_MS = 1_000
"""A heartbeat older than this was a gap in service."""

_LOAD = "SELECT * FROM es.load_match(%s, %s)"
_APPEND = (
    "SELECT * FROM es.append_events(%s, %s, %b, %s, %s, %b, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
)
_CREATE = (
    "SELECT * FROM es.create_match(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %b, %s, %s, %s, %s)"
)
_CREATED = (
    "SELECT match_id, fingerprint FROM es.match_creation WHERE creator = %s AND command_id = %s"
)
_BEAT = "SELECT es.beat(%s)"
_NOW = "SELECT es.now_ms()"
_DUE = "SELECT * FROM es.due_matches(%s, %s, %s)"
_RATED_SEAT = "SELECT match_id FROM es.rated_seat WHERE player = %s"
_SETTLED = """
SELECT match_id, version FROM es.match_head
 WHERE match_id = ANY (%s::uuid[]) AND (due_at_ms IS NULL OR due_at_ms > es.now_ms())
"""
# No match lasts for days: older seats are not even looked at.
_LIVE_SEATS = """
SELECT count(*) FROM es.match_seat s JOIN es.match_head h USING (match_id)
 WHERE s.player = %s AND s.created_at_ms > es.now_ms() - 172800000 AND h.status = 1
   AND s.match_id <> %s
"""
_EVER_SEATED = "SELECT EXISTS (SELECT FROM es.match_seat WHERE player = %s)"
_HASH = "SELECT hash FROM es.match_event WHERE match_id = %s AND seq = %s"

_LISTED = """
    h.match_id, h.created_at_ms, h.ruleset, h.rules_version, h.control, h.rated, h.status,
    (SELECT json_agg(json_build_array(s.seat, replace(s.player::text, '-', ''))
                     ORDER BY s.seat)::text
       FROM es.match_seat s WHERE s.match_id = h.match_id),
    h.ended_at_ms, h.reason, h.winner, array_to_json(h.scores)::text
"""
_BEFORE_ALL = (0, UUID(int=0))
_AFTER_ALL = (2**63 - 1, UUID(int=2**128 - 1))
# Only our own fragment goes into the text of these two; what is asked for is a parameter.
# No page holds more than its length of either kind; whoever has taken a kept seat is of both.
_MY_MATCHES = f"""
SELECT {_LISTED}
  FROM ((SELECT s.created_at_ms, s.match_id
           FROM es.match_seat s JOIN es.match_head h USING (match_id)
          WHERE s.player = %s AND (%s::smallint IS NULL OR h.status = %s)
            AND (s.created_at_ms, s.match_id) < (%s, %s)
          ORDER BY s.created_at_ms DESC, s.match_id DESC LIMIT %s)
        UNION
        (SELECT e.at_ms, e.match_id
           FROM es.match_event e JOIN es.match_head h USING (match_id)
          WHERE e.seq = 1 AND e.payload ->> 'invited' = %s AND h.status = 1
            AND (%s::smallint IS NULL OR h.status = %s) AND (e.at_ms, e.match_id) < (%s, %s)
          ORDER BY e.at_ms DESC, e.match_id DESC LIMIT %s)) mine
  JOIN es.match_head h USING (match_id)
 ORDER BY mine.created_at_ms DESC, mine.match_id DESC LIMIT %s
"""  # noqa: S608
# An invitation is open for an hour: its creator's older seats are not even looked at.
_INVITATIONS = """
SELECT count(*)
  FROM es.match_seat s JOIN es.match_head h USING (match_id) JOIN es.match_event e USING (match_id)
 WHERE s.player = %s AND s.created_at_ms > es.now_ms() - %s AND h.status = 1
   AND e.seq = 1 AND e.payload ->> 'invited' IS NOT NULL
   AND NOT EXISTS (SELECT FROM es.match_seat o WHERE o.match_id = s.match_id
                      AND o.player = (e.payload ->> 'invited')::uuid)
"""
_FINISHED = f"""
SELECT h.ended_order, {_LISTED}
  FROM es.match_head h
 WHERE h.status = 2 AND h.rated AND (h.ended_order, h.match_id) > (%s, %s)
   AND h.ended_order < es.order_of(pg_snapshot_xmin(pg_current_snapshot()))
 ORDER BY h.ended_order, h.match_id LIMIT %s
"""  # noqa: S608


# A seat is blamed that left, or, where the time to get ready ran out, that was not ready.
_ABORTED = """
SELECT h.ended_at_ms
  FROM es.match_seat s JOIN es.match_head h USING (match_id)
  JOIN es.match_event e ON e.match_id = h.match_id AND e.seq = h.version
 WHERE s.player = %s AND s.created_at_ms > %s AND h.status = 3 AND h.ended_at_ms > %s
   AND EXISTS (SELECT FROM es.match_seat o WHERE o.match_id = s.match_id AND o.seat <> s.seat
                  AND o.player <> ALL (%s::uuid[]))
   AND CASE WHEN e.payload ->> 'seat' IS NOT NULL
            THEN e.payload ->> 'seat' = s.seat::text
            ELSE NOT EXISTS (SELECT FROM es.match_event r WHERE r.match_id = s.match_id
                                AND r.kind = 'match.seat_ready' AND r.actor = s.seat) END
 ORDER BY h.ended_at_ms DESC LIMIT %s
"""


_RATED_AFTER = """
SELECT EXISTS (
    SELECT FROM es.match_seat s JOIN es.match_head h USING (match_id)
     WHERE s.player = ANY (%s::uuid[]) AND s.created_at_ms >= %s
       AND h.status = 2 AND h.rated AND h.ended_at_ms <= %s
       AND (h.ended_order, h.match_id) > (%s, %s))
"""


class _Stored(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """One row of es.load_match's JSON, in its order."""

    seq: int
    kind: str
    v: int
    payload: msgspec.Raw
    actor: Seat | None
    command_id: UUID | None
    fingerprint: int | None
    effects: int | None
    at_ms: int
    hash: bytes


class _Inserted(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One row of es.append_events' JSON."""

    kind: str
    v: int
    at_ms: int
    payload: msgspec.Raw
    hash: str
    actor: int | None = None
    command_id: UUID | None = None
    fingerprint: int | None = None
    effects: int | None = None


class _Taken(msgspec.Struct, frozen=True):
    seat: int
    player: str


_decode_stored = msgspec.json.Decoder(list[_Stored]).decode
_encode = msgspec.json.Encoder().encode
_decode_seats = msgspec.json.Decoder(tuple[tuple[int, str], ...]).decode
_decode_scores = msgspec.json.Decoder(tuple[int, ...]).decode


def load(match_id: UUID, *, after_version: int = 0) -> Loaded | None:
    """The match's head, the clock, and its events after a version; None if there is none such.

    Where `hash_at` is not the caller's own hash at `after_version`, his history
    is not that of the log any more: he must begin again from 0.
    """
    ((*head, now_ms, alive_ms, hash_at, gaps, events),) = pool.run(
        _LOAD, (str(match_id), str(after_version))
    ).rows
    ruleset, rules_version, version, status, due_at_ms, head_hash = head
    if version is None:
        return None
    return Loaded(
        head=Head(match_id, ruleset, rules_version, version, status, due_at_ms, head_hash),
        now_ms=now_ms,
        alive_ms=alive_ms or 0,
        gaps=tuple(Gap(*gap) for gap in gaps or ()),
        hash_at=GENESIS if after_version == 0 else hash_at,
        rows=read_rows(events.encode()) if events else (),
    )


def read_rows(document: bytes) -> tuple[Row, ...]:
    """The rows in the JSON that a load brings."""
    return tuple(
        [
            Row(
                stored.seq,
                stored.kind,
                stored.v,
                bytes(stored.payload),
                stored.actor,
                stored.command_id,
                stored.fingerprint,
                stored.effects,
                stored.at_ms,
                stored.hash,
            )
            for stored in _decode_stored(document)
        ]
    )


def append(
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
    """Append rows that follow `expected_version` and its hash, all or none, durably.

    `status` and `due` are those of the match after them; `taken` are seats that
    were taken (seat, player), `summary` says how the match ended where it did.
    """
    last = rows[-1]
    named = next((row.command_id for row in rows if row.command_id is not None), None)
    answer = pool.run(
        _APPEND,
        (
            str(match_id),
            str(expected_version),
            prev_hash,
            *_document(rows),
            None if named is None else str(named),
            str(status),
            *_due(due),
            _encode([_Taken(*one) for one in taken]).decode() if taken else None,
            *_summary(summary),
        ),
    )
    ((outcome, version),) = answer.rows
    if answer.repeated and outcome in ("stale", "closed") and _holds(match_id, last):
        # The first try had been committed when its connection was lost.
        return Appended("ok", last.seq)
    return Appended(outcome, version or 0)


def create(
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
    """Create a match with its first rows; `players` are its seats, None where one is free.

    The same creator and key give the match that they made the first time; an id
    that was reserved for it gives the match that somebody made under it before.
    """
    seats = [_Taken(seat, player) for seat, player in enumerate(players) if player is not None]
    answer = pool.run(
        _CREATE,
        (
            str(match_id),
            creator,
            None if key is None else str(key.command_id),
            None if key is None else str(key.fingerprint),
            ruleset,
            str(rules_version),
            control,
            _flag(rated),
            *_document(rows),
            *_due(due),
            _encode(seats).decode(),
        ),
    )
    ((outcome, made),) = answer.rows
    if outcome == "replayed" and made == match_id and _holds(match_id, rows[-1]):
        # The first try had been committed when its connection was lost.
        outcome = "ok"
    return Created(outcome, made)


def created_by(creator: str, key: CommandKey) -> Created | None:
    """What this key would be answered by `create`, None where it has made no match."""
    rows = pool.run(_CREATED, (creator, str(key.command_id))).rows
    if not rows:
        return None
    ((match_id, fingerprint),) = rows
    return Created("replayed" if fingerprint == key.fingerprint else "key_reused", match_id)


def beat() -> Beat:
    """Record that players can reach the service now: for processes that serve them, and no other.

    Where the newest beat is older than `GAP_THRESHOLD_MS`, the time since is
    recorded as a gap. While an append would have to wait for a table there is no
    beat, but `Unavailable` at once.
    """
    ((now_ms,),) = pool.run(_BEAT, (str(GAP_THRESHOLD_MS),)).rows
    return Beat(now_ms)


def settled_versions(match_ids: Collection[UUID]) -> dict[UUID, int]:
    """How far those of the matches have come whose table has nothing to do now."""
    asked = "{" + ",".join(map(str, match_ids)) + "}"
    return dict(pool.run(_SETTLED, (asked,)).rows)


def now() -> int:
    """The database clock, in ms."""
    ((now_ms,),) = pool.run(_NOW, ()).rows
    return int(now_ms)


def due(limit: int, exclude: Collection[UUID] = ()) -> DueMatches:
    """Up to `limit` matches whose table has something to do, without those of `exclude`."""
    excluded = "{" + ",".join(map(str, exclude)) + "}"
    ((now_ms, match_ids, dues_ms),) = pool.run(_DUE, (str(limit), excluded, str(GRACE_MS))).rows
    return DueMatches(tuple(zip(match_ids or (), dues_ms or (), strict=True)), now_ms)


def my_matches(
    player: str,
    *,
    before: tuple[int, UUID] | None = None,
    limit: int,
    status: int | None = None,
) -> list[Listed]:
    """The player's matches, newest creation first, after the cursor (created_at_ms, match id).

    They are those in which the player sits, and live ones that keep a seat for it.
    """
    wanted = None if status is None else str(status)
    created_at_ms, match_id = before or _AFTER_ALL
    page = (player, wanted, wanted, str(created_at_ms), str(match_id), str(limit))
    rows = pool.run(_MY_MATCHES, (*page, *page, str(limit))).rows
    return [_listed(*row) for row in rows]


def open_invitations(creator: str) -> int:
    """How many seats are kept, in live matches of this creator, for players who have not come."""
    ((count,),) = pool.run(_INVITATIONS, (creator, str(OPEN_MS))).rows
    return int(count)


def rated_seat(player: str) -> UUID | None:
    """The live rated match in which the player (id in hex) sits, None where there is none."""
    rows = pool.run(_RATED_SEAT, (player,)).rows
    return rows[0][0] if rows else None


def live_seats(player: str, *, without: UUID) -> int:
    """In how many live matches the player (id in hex) sits, one match left out."""
    ((count,),) = pool.run(_LIVE_SEATS, (player, str(without))).rows
    return int(count)


def ever_seated(player: str) -> bool:
    """Whether the player (id in hex) sits, or ever sat, in a match."""
    ((found,),) = pool.run(_EVER_SEATED, (player,)).rows
    return bool(found)


def aborted_by(player: str, *, since_ms: int, without: Collection[str], limit: int) -> list[int]:
    """When the newest matches ended that the player (id in hex) aborted since an instant.

    They had two players, and this one left before the first deal, or was never
    ready. Matches with one of `without` (ids in hex) are left out.
    """
    # Whoever opened a match may have waited for somebody to join it.
    created_ms = since_ms - OPEN_MS - READY_MS
    left_out = "{" + ",".join(without) + "}"
    asked = (player, str(created_ms), str(since_ms), left_out, str(limit))
    return [int(ended_at_ms) for (ended_at_ms,) in pool.run(_ABORTED, asked).rows]


def finished_rated(after: tuple[int, UUID] | None, limit: int) -> list[Finished]:
    """Rated matches that finished, in the order of commits, from the start or after a cursor.

    Only those below the oldest running transaction: one that commits late is
    never skipped.
    """
    order, match_id = after or _BEFORE_ALL
    rows = pool.run(_FINISHED, (str(order), str(match_id), str(limit))).rows
    return [Finished((order, row[0]), _listed(*row)) for order, *row in rows]


def rated_after(
    after: tuple[int, UUID] | None, *, players: Iterable[str], since_ms: int, until_ms: int
) -> bool:
    """Whether a rated match of one of the players (ids in hex) finished after a cursor.

    It was made since `since_ms` and over by `until_ms`, however new its commit.
    """
    order, match_id = after or _BEFORE_ALL
    sitting = "{" + ",".join(players) + "}"
    asked = (sitting, str(since_ms), str(until_ms), str(order), str(match_id))
    ((found,),) = pool.run(_RATED_AFTER, asked).rows
    return bool(found)


def _holds(match_id: UUID, row: Row) -> bool:
    return pool.run(_HASH, (str(match_id), str(row.seq))).rows == [(row.hash,)]


def _document(rows: Sequence[Row]) -> tuple[pool.Param, ...]:
    """p_rows, p_count, p_hash, p_at_ms."""
    inserted = [
        _Inserted(
            row.kind,
            row.v,
            row.at_ms,
            msgspec.Raw(row.payload),
            row.hash.hex(),
            row.actor,
            row.command_id,
            row.fingerprint,
            row.effects,
        )
        for row in rows
    ]
    last = rows[-1]
    return _encode(inserted).decode(), str(len(rows)), last.hash, str(last.at_ms)


def _due(due: Due | None) -> tuple[pool.Param, pool.Param]:
    """p_due_at_ms, p_due_is_deadline: sweeps leave a deadline its grace."""
    if due is None:
        return None, _flag(False)
    return str(due.look_at_ms), _flag(due.deadline)


def _summary(summary: Summary | None) -> tuple[pool.Param, pool.Param, pool.Param]:
    """p_reason, p_winner, p_scores."""
    if summary is None:
        return None, None, None
    winner = None if summary.winner is None else str(summary.winner)
    return summary.reason, winner, "{" + ",".join(map(str, summary.scores)) + "}"


def _flag(value: bool) -> str:
    return "t" if value else "f"


def _listed(*row: Any) -> Listed:
    *facts, seats, ended_at_ms, reason, winner, scores = row
    players = _decode_seats(seats) if seats else ()
    summary = None if reason is None else Summary(reason, winner, _decode_scores(scores))
    match_id, created_at_ms, ruleset, rules_version, control, rated, status = facts
    return Listed(
        match_id=match_id,
        created_at_ms=created_at_ms,
        ruleset=ruleset,
        rules_version=rules_version,
        control=control,
        rated=rated,
        status=status,
        players=players,
        ended_at_ms=ended_at_ms,
        summary=summary,
    )
