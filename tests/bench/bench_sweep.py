"""How late the table acts while a thousand matches are played, and whether ever early or twice."""

from __future__ import annotations

import time
from contextlib import ExitStack
from statistics import quantiles
from typing import Any

import psutil
import psycopg

from tests.bench.figures import Figure, Target
from tests.bench.stage import Say, Size, Stage
from tests.support.servers import Servers

PROCESSES = 2
ABSENT = 40
"""Matches a process whose players never get ready: deadlines among the scheduled acts."""
SETTLING_IN_S = 10.0

# What a command itself causes has the command's own instant; what was owed before it is older.
_LATENESS = """
SELECT e.kind, e.at_ms,
       floor(extract(epoch FROM pg_xact_commit_timestamp(e.xmin)) * 1000)::bigint - e.at_ms,
       c.match_id IS NOT NULL
  FROM es.match_event e
  LEFT JOIN es.match_event c
    ON c.match_id = e.match_id AND c.xmin = e.xmin AND c.command_id IS NOT NULL
 WHERE e.actor IS NULL AND e.kind <> 'match.created' AND e.at_ms BETWEEN %s AND %s
   AND (c.match_id IS NULL OR c.at_ms > e.at_ms)
"""
# A table acts once at an instant; a deadline, a void and an end are the last thing there is.
_DOUBLE = """
SELECT count(*) FROM (SELECT FROM es.match_event WHERE actor IS NULL
                       GROUP BY match_id, kind, at_ms HAVING count(*) > 1) doubled
"""


def run(stage: Stage, size: Size, say: Say) -> list[Figure]:
    """Lateness on the database clock, from an act's instant to the writing of its row."""
    servers = stage.database()
    absent = 3 if size.quick else ABSENT
    with ExitStack() as stack:
        worker = psutil.Process(stack.enter_context(stage.worker(servers)))
        say(f"dealing {size.live_matches} matches")
        count = size.live_matches // PROCESSES
        programs = [
            stack.enter_context(stage.program(servers, "players", count, absent))
            for _ in range(PROCESSES)
        ]
        for program in programs:
            program.answer()
        say("settling in")
        settling_s = 1.0 if size.quick else SETTLING_IN_S
        for program in programs:
            program.tell("play", settling_s + size.sweep_s)
        time.sleep(settling_s)
        from_ms, rss = _now_ms(servers), worker.memory_info().rss
        say(f"playing for {size.sweep_s:.0f} s")
        time.sleep(size.sweep_s)
        until_ms = _now_ms(servers)
        grown = worker.memory_info().rss / rss - 1
        answers = [program.answer() for program in programs]
    acts = _acts(servers, from_ms, until_ms)
    say("verifying every match")
    proof = stage.manage(servers, "verify_log", "--all")
    doubled = _one(servers, _DOUBLE)
    note = (proof.stdout.strip() or proof.stderr.strip()).splitlines()[-1]
    return [
        *_figures(acts, answers, size, (until_ms - from_ms) / 1000),
        Figure(
            bench="sweep",
            name="table acts doubled",
            value=doubled + (proof.returncode != 0),
            unit="",
            target=Target("==", 0),
            note=f"verify_log --all: {note}",
        ),
        Figure(bench="sweep", name="worker RSS growth meanwhile", value=100 * grown, unit="%"),
    ]


def _figures(
    acts: list[tuple[str, int, int, bool]], answers: list[Any], size: Size, seconds: float
) -> list[Figure]:
    late = sorted(late_ms for _, _, late_ms, _ in acts)
    cuts = quantiles(late, n=1000)
    commands = sum(answer.get("commands", 0) for answer in answers)
    ended = [late_ms for kind, _, late_ms, _ in acts if kind == "match.ended"]
    note = (
        f"{len(late)} acts in {seconds:.0f} s, {sum(1 for *_, by in acts if by)} of them settled by"
        f" a command that came first; {commands / seconds:.0f} commands a second; median"
        f" {cuts[499]:.0f}, p99.9 {cuts[998]:.0f}, latest {late[-1]} ms; of {len(ended)} deadlines,"
        f" their grace of 100 ms included, the latest {max(ended, default=0)} ms"
    )
    return [
        Figure(
            bench="sweep",
            name=f"sweep lateness p99, {size.live_matches} live",
            unit="ms",
            value=cuts[989],
            target=Target("<=", 250),
            note=note,
        ),
        Figure(
            bench="sweep",
            name="table acts early",
            value=sum(1 for one in late if one < 0),
            unit="",
            target=Target("==", 0),
        ),
    ]


def _acts(servers: Servers, from_ms: int, until_ms: int) -> list[tuple[str, int, int, bool]]:
    with psycopg.connect(servers.app_url, autocommit=True) as connection:
        found: list[Any] = connection.execute(_LATENESS, (from_ms, until_ms)).fetchall()
    return found


def _one(servers: Servers, statement: Any) -> int:
    with psycopg.connect(servers.app_url, autocommit=True) as connection:
        row = connection.execute(statement).fetchone()
    assert row is not None
    return int(row[0])


def _now_ms(servers: Servers) -> int:
    return _one(servers, "SELECT es.now_ms()")
