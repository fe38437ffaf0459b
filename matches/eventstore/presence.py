"""When each player was last heard of: one row a player, beside the log.

The rows are written without waiting for the disk, and only grow. Each function
is one statement in one round trip, may be repeated, and raises `Unavailable`.
"""

from __future__ import annotations

from collections.abc import Collection

from matches.eventstore import pool

# In one order everywhere: two processes at the same time never wait for each other.
_NOTE = """
WITH clock AS MATERIALIZED (SELECT es.now_ms() AS ms),
noted AS (
    INSERT INTO matches_presence AS p (player, seen_ms)
    SELECT heard.player, clock.ms FROM unnest(%s::uuid[]) AS heard (player), clock
     ORDER BY heard.player
    ON CONFLICT (player) DO UPDATE SET seen_ms = greatest(p.seen_ms, excluded.seen_ms)
    RETURNING 1)
SELECT count(*), set_config('synchronous_commit', 'off', true) FROM noted
"""
_SEEN = "SELECT seen_ms FROM matches_presence WHERE player = %s"
_FORGET = """
WITH forgotten AS (
    DELETE FROM matches_presence WHERE seen_ms < es.now_ms() - %s::bigint RETURNING 1)
SELECT count(*) FROM forgotten
"""
KEPT_MS = 86_400_000
"""No match waits so long for a seat."""


def note(players: Collection[str]) -> None:
    """Record that these players (ids in hex) are there now, by the database clock."""
    pool.run(_NOTE, ("{" + ",".join(sorted(set(players))) + "}",))


def seen_ms(player: str) -> int | None:
    """When the player was last recorded to be there, None where it is not known."""
    rows = pool.run(_SEEN, (player,)).rows
    return int(rows[0][0]) if rows else None


def forget_old() -> int:
    """Delete what is older than `KEPT_MS`; returns how many rows that were."""
    ((forgotten,),) = pool.run(_FORGET, (str(KEPT_MS),)).rows
    return int(forgotten)
