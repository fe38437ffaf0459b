"""The event store under load: throughput, round trips, and what a match weighs on disk."""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from statistics import median
from string import Template
from uuid import UUID, uuid4

import psycopg
from django.conf import settings

from matches.eventstore import pool, store
from matches.eventstore.ids import new_match_id
from matches.eventstore.rows import FINISHED, LIVE, Row, Summary
from tests.support.recording import Recorder, finished
from xqmj_site.devstack.binaries import postgres_bin

CLIENTS = 16
SECONDS = 4
"""Length of each of the throughput runs; each kind runs twice, in turn."""
GAMES = tuple(range(0, 24, 2))
"""Seeds of the matches that are weighed: both seats play sensibly."""
WEIGHED = 128
"""How many matches are weighed, `AT_ONCE` of them live at a time, as on a busy server."""
AT_ONCE = 32
TRIPS = 50

HASH = "ab" * 32
# pgbench takes a colon before a letter or digit for a variable: a space stands between.
EVENT = (
    '[{"kind":"xqmj.tile_discarded","v": 1,"at_ms": 1700000000000,'
    '"payload":{"clock":[1234,179877],"drawn": true,"tile":"rC"},"hash":"' + HASH + '",'
    '"actor": 0,"command_id":"%s","fingerprint": 123456789012345678,"effects": 1}]'
)
SCRIPT = Template(
    r"""
\set version :version + 1
SELECT a.outcome
  FROM $lock (SELECT gen_random_uuid() AS id) c,
       LATERAL es.append_events(
           ('$prefix' || lpad((:client_id)::text, 12, '0'))::uuid, (:version)::int, '\x$hash',
           format('$event', c.id)::json, 1, '\x$hash', 1700000000000, c.id, 1::smallint,
           1900000000000 + :version, true, NULL, NULL, NULL, NULL) a;
"""
)
"""An append of a pgbench client to its own match. Versions are checked; all hashes are the same."""


def run(dsn: str) -> dict[str, float]:
    """Measure with the app's role at `dsn`, a libpq address of a migrated database.

    Throughput is appends a second by pgbench; `append_to_global_lock` is how
    many times faster they are than when each takes one global advisory lock.
    Sizes are bytes: a match's share of the events' table and of its indexes,
    and of all tables of the log, as they are after many matches were written
    at once.
    """
    settings.DATABASE_URL = dsn
    pool.close()
    try:
        return {**_throughput(dsn), **_trips(dsn), **_weight(dsn), **_latency()}
    finally:
        pool.close()


# --- throughput -----------------------------------------------------------------------------------


def _throughput(dsn: str) -> dict[str, float]:
    free, locked = [], []
    for _ in range(2):
        free.append(append_rate(dsn, clients=CLIENTS))
        locked.append(append_rate(dsn, clients=CLIENTS, global_lock=True))
    return {
        "appends_per_s_16": max(free),
        "appends_per_s_16_global_lock": max(locked),
        "append_to_global_lock": max(free) / max(locked),
        "appends_per_s_1": append_rate(dsn, clients=1),
    }


def append_rate(
    dsn: str, *, clients: int, global_lock: bool = False, seconds: int = SECONDS
) -> float:
    """Appends a second by so many pgbench clients, each to a match of its own."""
    prefix = f"{uuid4()}"[:24]
    with psycopg.connect(dsn, autocommit=True) as connection:
        for client in range(clients):
            _create(connection, f"{prefix}{client:012}")
    lock = "(SELECT pg_advisory_xact_lock(7)) l," if global_lock else ""
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(SCRIPT.substitute(lock=lock, prefix=prefix, hash=HASH, event=EVENT))
        script.flush()
        done = subprocess.run(
            [
                _pgbench(),
                "--no-vacuum",
                "--protocol=prepared",
                f"--client={clients}",
                f"--jobs={min(2, clients)}",
                f"--time={seconds}",
                "--define=version=0",
                f"--file={script.name}",
                dsn,
            ],
            capture_output=True,
            check=False,
            text=True,
            timeout=seconds + 60,
        )
    with psycopg.connect(dsn, autocommit=True) as connection:
        written = connection.execute(
            "SELECT sum(version - 1) FROM es.match_head WHERE match_id::text LIKE %s",
            (f"{prefix}%",),
        ).fetchone()
    processed = re.search(r"actually processed: (\d+)", done.stdout)
    rate = re.search(r"tps = ([\d.]+)", done.stdout)
    if done.returncode != 0 or processed is None or rate is None or written != (int(processed[1]),):
        raise RuntimeError(f"{written} were appended:\n{done.stdout}{done.stderr}")
    return float(rate[1])


def _create(connection: psycopg.Connection, match_id: str) -> None:
    connection.execute(
        "SELECT es.create_match(%s, %s, NULL, NULL, 'bench', 1, '3+2', false, %s, 1, %s, 0,"
        " NULL, false, '[]')",
        (match_id, str(uuid4()), EVENT % uuid4(), bytes.fromhex(HASH)),
    )


def _pgbench() -> str:
    path = postgres_bin() / "pgbench"
    if not path.exists():
        raise RuntimeError(f"there is no pgbench beside the server in {path.parent}")
    return str(path)


# --- round trips ----------------------------------------------------------------------------------


def _trips(dsn: str) -> dict[str, float]:
    """Statements that the server saw for a load and an append, and how many began a transaction."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        known = connection.execute("SELECT to_regclass('pg_stat_statements')").fetchone()
        if known == (None,):
            return {}
        log = finished(GAMES[0])
        match_id = _begin(log)
        batches = list(_batches(log.rows))[1 : TRIPS + 1]
        before = _calls(connection)
        for batch in batches:
            store.load(match_id, after_version=batch[0].seq - 1)
            _append(log, match_id, batch)
        after = _calls(connection)
    count = len(batches)
    return {
        # The first count of calls is itself a call that the second one sees.
        "round_trips_a_load_and_append": (after[0] - before[0] - 1) / count,
        "begins_a_load_and_append": (after[1] - before[1]) / count,
    }


def _calls(connection: psycopg.Connection) -> tuple[int, int]:
    row = connection.execute(
        "SELECT coalesce(sum(calls), 0),"
        " coalesce(sum(calls) FILTER (WHERE query ILIKE 'BEGIN%%'), 0)"
        " FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database"
        " WHERE datname = current_database()) AND userid = current_user::regrole"
    ).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


# --- weight ---------------------------------------------------------------------------------------


def _weight(dsn: str) -> dict[str, float]:
    logs = [finished(seed) for seed in GAMES]
    events = sum(len(log.rows) for log in logs) / len(logs)
    payload = sum(len(row.payload) for log in logs for row in log.rows) / len(logs)
    with psycopg.connect(dsn, autocommit=True) as connection:
        # The first pages of every table are taken before anything is weighed.
        _play([logs[n % len(logs)] for n in range(AT_ONCE)])
        before = _sizes(connection)
        for start in range(0, WEIGHED, AT_ONCE):
            _play([logs[(start + n) % len(logs)] for n in range(AT_ONCE)])
        after = _sizes(connection)
    table, index, all_tables = ((after[n] - before[n]) / WEIGHED for n in range(3))
    return {
        "events_a_match": events,
        "payload_bytes_an_event": payload / events,
        "event_table_bytes_a_match": table,
        "event_index_bytes_a_match": index,
        "event_bytes_a_match": table + index,
        "all_bytes_a_match": all_tables,
    }


def _sizes(connection: psycopg.Connection) -> tuple[int, ...]:
    """Of the events their table and its indexes, and of all tables with their indexes."""
    row = connection.execute(
        "SELECT pg_table_size('es.match_event'), pg_indexes_size('es.match_event'),"
        " sum(pg_total_relation_size(c.oid)) FROM pg_class c"
        " WHERE c.relnamespace = 'es'::regnamespace AND c.relkind = 'r'"
    ).fetchone()
    assert row is not None
    return tuple(map(int, row))


def _play(logs: Sequence[Recorder]) -> None:
    """Write whole matches side by side, a command of each in turn, as they were recorded."""
    live = [(log, _begin(log), list(_batches(log.rows))[1:]) for log in logs]
    with ThreadPoolExecutor(4) as threads:
        for turn in range(max(len(batches) for _, _, batches in live)):
            todo = [
                threads.submit(_append, log, match_id, batches[turn])
                for log, match_id, batches in live
                if turn < len(batches)
            ]
            for one in todo:
                one.result()


def _batches(rows: Sequence[Row]) -> Iterator[tuple[Row, ...]]:
    """The rows as they were appended together: a command's effects, or what the table did."""
    at = 0
    while at < len(rows):
        size = rows[at].effects or 1
        yield tuple(rows[at : at + size])
        at += size


def _begin(log: Recorder) -> UUID:
    match_id = new_match_id()
    created = store.create(
        match_id=match_id,
        creator=uuid4().hex,
        key=None,
        rows=log.rows[:1],
        ruleset="xqmj-32-2p",
        rules_version=1,
        control="3+2",
        rated=True,
        players=(uuid4().hex, uuid4().hex),
        due=None,
    )
    assert created.outcome == "ok"
    return match_id


def _append(log: Recorder, match_id: UUID, batch: Sequence[Row]) -> None:
    over = batch[-1].seq == len(log.rows)
    done = store.append(
        match_id=match_id,
        expected_version=batch[0].seq - 1,
        prev_hash=log.rows[batch[0].seq - 2].hash,
        rows=batch,
        status=FINISHED if over else LIVE,
        due=None,
        summary=Summary("score", 0, (5, 3)) if over else None,
    )
    assert done.outcome == "ok"


# --- latency --------------------------------------------------------------------------------------


def _latency() -> dict[str, float]:
    """Median µs of a call in one thread: a load of what is new, an append, a load of everything."""
    log = finished(GAMES[0])
    match_id = _begin(log)
    loads: list[float] = []
    appends: list[float] = []
    for batch in list(_batches(log.rows))[1:]:
        loads.append(_timed_us(partial(store.load, match_id, after_version=batch[0].seq - 1)))
        appends.append(_timed_us(partial(_append, log, match_id, batch)))
    whole = [_timed_us(partial(store.load, match_id)) for _ in range(20)]
    return {
        "load_us": median(loads),
        "append_us": median(appends),
        "load_whole_match_us": median(whole),
    }


def _timed_us(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1e6
