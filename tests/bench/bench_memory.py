"""Whether the worker keeps anything of the matches that its sweep has ended."""

from __future__ import annotations

import time
from contextlib import ExitStack

import psutil
import psycopg

from tests.bench.figures import Figure, Target
from tests.bench.stage import Program, Say, Size, Stage
from tests.support.servers import Servers

PROCESSES = 2
"""That write the matches; the worker is another."""
STEPS = 20
TIMEOUT_S = 120.0


def run(stage: Stage, size: Size, say: Say) -> list[Figure]:
    """Growth of the sweeping process from the first tenth of the matches on."""
    servers = stage.database()
    each = max(1, size.worker_matches // STEPS // PROCESSES)
    with ExitStack() as stack:
        worker = psutil.Process(stack.enter_context(stage.worker(servers)))
        # Deadlines count only as far as players could reach the service.
        stack.enter_context(stage.web(servers, WEB_WORKERS="1"))
        programs = [
            stack.enter_context(stage.program(servers, "unfinished")) for _ in range(PROCESSES)
        ]
        for program in programs:
            program.answer()
        events = _step(programs, each)
        _await_ended(servers, PROCESSES * each)
        _step(programs, each)
        _await_ended(servers, 2 * PROCESSES * each)
        samples = [worker.memory_info().rss]
        for step in range(3, STEPS + 3):
            say(f"{(step - 1) * PROCESSES * each} matches, {samples[-1] / 2**20:.1f} MB")
            events += _step(programs, each)
            _await_ended(servers, step * PROCESSES * each)
            samples.append(worker.memory_info().rss)
    matches = STEPS * PROCESSES * each
    return [
        Figure(
            bench="memory",
            name=f"worker RSS growth over {matches:,} matches",
            value=100 * (max(samples) / samples[0] - 1),
            unit="%",
            target=Target("<=", 5),
            note=(
                f"{samples[0] / 2**20:.1f} MB after the first {2 * PROCESSES * each}, at most"
                f" {max(samples) / 2**20:.1f}, at the end {samples[-1] / 2**20:.1f};"
                f" matches of {events // (matches + PROCESSES * each)} events, ended by the sweep"
            ),
        )
    ]


def _step(programs: list[Program], each: int) -> int:
    for program in programs:
        program.tell("write", each)
    return sum(program.answer()["events"] for program in programs)


def _await_ended(servers: Servers, count: int) -> None:
    end = time.monotonic() + TIMEOUT_S
    with psycopg.connect(servers.app_url, autocommit=True) as connection:
        while True:
            row = connection.execute(
                "SELECT count(*) FROM es.match_head WHERE status <> 1"
            ).fetchone()
            assert row is not None
            if row[0] >= count:
                return
            if time.monotonic() > end:
                raise RuntimeError(f"the worker ended {row[0]} of {count} matches")
            time.sleep(0.05)
