"""What a match weighs: its events' payloads, and its share of tables and indexes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import median, quantiles

import psycopg

from tests.bench.figures import Figure, Target
from tests.bench.stage import Say, Size, Stage
from tests.bench.writing import play
from tests.support.recording import Recorder, finished
from tests.support.servers import Servers

GAMES = tuple(range(0, 64, 2))
"""Seeds of matches between two players that play sensibly."""
AT_ONCE = 32
"""Matches that are live at a time, as on a busy server."""
ROUNDS = 3
KB = 1024


def run(stage: Stage, size: Size, say: Say) -> list[Figure]:
    """Bytes of payload an event, and kB a match after being written among many others."""
    games = GAMES[:4] if size.quick else GAMES
    say(f"playing {len(games)} matches")
    logs = [finished(seed) for seed in games]
    servers = stage.database()
    rounds = 1 if size.quick else ROUNDS
    with stage.store(servers):
        # The first pages of every table are taken before anything is weighed.
        play(logs)
        before = _sizes(servers)
        for number in range(1, rounds + 1):
            say(f"writing them, round {number} of {rounds}")
            play(logs)
        after = _sizes(servers)
    table, index = ((after[n] - before[n]) / rounds / len(logs) / KB for n in (0, 1))
    return [*_payloads(logs), _weight(logs, table, index)]


def _payloads(logs: Sequence[Recorder]) -> list[Figure]:
    sizes = [len(row.payload) for log in logs for row in log.rows]
    cuts = quantiles(sizes, n=100)
    by_kind: dict[str, list[int]] = defaultdict(list)
    for log in logs:
        for row in log.rows:
            by_kind[row.kind].append(len(row.payload))
    shares = ", ".join(
        f"{kind} {100 * len(found) / len(sizes):.1f} % of {sum(found) / len(found):.0f} B"
        for kind, found in sorted(by_kind.items(), key=lambda one: -len(one[1]))
    )
    note = (
        f"median {median(sizes):.0f}, p90 {cuts[89]:.0f}, p99 {cuts[98]:.0f},"
        f" longest {max(sizes)} B; {shares}"
    )
    return [
        Figure(
            bench="weight",
            name="payload of an event, mean",
            value=sum(sizes) / len(sizes),
            unit="B",
            target=Target("<=", 60),
            note=note,
        )
    ]


def _weight(logs: Sequence[Recorder], table: float, index: float) -> Figure:
    events = sorted(len(log.rows) for log in logs)
    return Figure(
        bench="weight",
        name="tables and indexes a match",
        value=table + index,
        unit="kB",
        target=Target("<=", 40),
        note=(
            f"{table:.1f} kB of tables, {index:.1f} of indexes, everything in the schema es;"
            f" {len(logs)} different matches of greedy players, {events[0]} to {events[-1]} events,"
            f" {sum(events) / len(events):.0f} on average"
        ),
    )


def _sizes(servers: Servers) -> tuple[int, int]:
    with psycopg.connect(servers.app_url, autocommit=True) as connection:
        row = connection.execute(
            "SELECT sum(pg_table_size(c.oid)), sum(pg_indexes_size(c.oid)) FROM pg_class c"
            " WHERE c.relnamespace = 'es'::regnamespace AND c.relkind = 'r'"
        ).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])
