"""Appends by pgbench: what PostgreSQL does with the same function if nothing is in the way."""

from __future__ import annotations

import re
import subprocess
import tempfile
from string import Template
from uuid import uuid4

import psycopg

from xqmj_site.devstack.binaries import postgres_bin

HASH = "ab" * 32
# pgbench takes a colon before a letter or digit for a variable: a space stands between.
DRAWN = (
    '{"kind":"xqmj.tile_drawn","v": 1,"at_ms": 1700000000000,"payload":{},"hash":"' + HASH + '"}'
)
DISCARDED = (
    '{"kind":"xqmj.tile_discarded","v": 1,"at_ms": 1700000000000,'
    '"payload":{"clock":[1234,179877],"drawn": true,"tile":"rC"},"hash":"' + HASH + '",'
    '"actor": 0,"command_id":"%s","fingerprint": 123456789012345678,"effects": 1}'
)
DISCARD = f"[{DISCARDED}]"
"""The rows of a discard; `%s` is the id of its command."""
DRAW_AND_DISCARD = f"[{DRAWN},{DISCARDED}]"
"""The rows of a discard before which the table owed the draw."""

_SCRIPT = Template(
    r"""
\set version :version + $count
SELECT a.outcome
  FROM $lock (SELECT gen_random_uuid() AS id) c,
       LATERAL es.append_events(
           ('$prefix' || lpad((:client_id)::text, 12, '0'))::uuid, (:version)::int, '\x$hash',
           format('$rows', c.id)::json, $count, '\x$hash', 1700000000000, c.id, 1::smallint,
           1900000000000 + :version, true, NULL, NULL, NULL, NULL) a;
"""
)
"""An append of a pgbench client to its own match. Versions are checked; all hashes are the same."""


def append_rate(
    dsn: str, *, clients: int, seconds: float, rows: str = DISCARD, global_lock: bool = False
) -> float:
    """Appends of `rows` a second by so many pgbench clients, each to a match of its own.

    With `global_lock` each takes one advisory lock for all of them first. Raises RuntimeError
    unless every append that was counted stands in the log.
    """
    count = rows.count('"kind"')
    prefix = f"{uuid4()}"[:24]
    with psycopg.connect(dsn, autocommit=True) as connection:
        for client in range(clients):
            create(connection, f"{prefix}{client:012}")
    script = _SCRIPT.substitute(
        lock="(SELECT pg_advisory_xact_lock(7)) l," if global_lock else "",
        prefix=prefix,
        hash=HASH,
        rows=rows,
        count=count,
    )
    done = _run(dsn, script, clients=clients, seconds=seconds, version=1 - count)
    with psycopg.connect(dsn, autocommit=True) as connection:
        written = connection.execute(
            "SELECT sum(version - 1) / %s FROM es.match_head WHERE match_id::text LIKE %s",
            (count, f"{prefix}%"),
        ).fetchone()
    processed = re.search(r"actually processed: (\d+)", done.stdout)
    rate = re.search(r"tps = ([\d.]+)", done.stdout)
    if done.returncode != 0 or processed is None or rate is None or written != (int(processed[1]),):
        raise RuntimeError(f"{written} were appended:\n{done.stdout}{done.stderr}")
    return float(rate[1])


def create(connection: psycopg.Connection, match_id: str) -> None:
    """A match of one event, whose hash is `HASH`."""
    connection.execute(
        "SELECT es.create_match(%s, %s, NULL, NULL, 'bench', 1, '3+2', false, %s, 1, %s, 0,"
        " NULL, false, '[]')",
        (match_id, str(uuid4()), DISCARD % uuid4(), bytes.fromhex(HASH)),
    )


def _run(
    dsn: str, script: str, *, clients: int, seconds: float, version: int
) -> subprocess.CompletedProcess[str]:
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(script)
        file.flush()
        return subprocess.run(
            [
                _program(),
                "--no-vacuum",
                "--protocol=prepared",
                f"--client={clients}",
                f"--jobs={min(2, clients)}",
                f"--time={max(1, round(seconds))}",
                f"--define=version={version}",
                f"--file={file.name}",
                dsn,
            ],
            capture_output=True,
            check=False,
            text=True,
            timeout=seconds + 60,
        )


def _program() -> str:
    path = postgres_bin() / "pgbench"
    if not path.exists():
        raise RuntimeError(f"there is no pgbench beside the server in {path.parent}")
    return str(path)
