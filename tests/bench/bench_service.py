"""A command through the services, beside pgbench that makes the same append and nothing else."""

from __future__ import annotations

from contextlib import ExitStack
from statistics import quantiles

from tests.bench import pgbench
from tests.bench.figures import Figure, Target, side_by_side
from tests.bench.stage import Program, Say, Size, Stage

PROCESSES, THREADS = 2, 4
"""As the web role runs: two processes, of whose threads four are at work."""
MATCHES_A_PROCESS = 2_400
"""Each match can take a command every 1.5 s."""


def run(stage: Stage, size: Size, say: Say) -> list[Figure]:
    """Commands a second of 8 clients and of 1, in turn with pgbench at the same number."""
    servers = stage.database()
    with ExitStack() as stack:
        count = 30 if size.quick else MATCHES_A_PROCESS
        say(f"dealing {PROCESSES * count} matches")
        programs = [
            stack.enter_context(stage.program(servers, "service_clients", count))
            for _ in range(PROCESSES)
        ]
        for program in programs:
            program.answer()
        many: list[tuple[float, float]] = []
        one: list[tuple[float, float]] = []
        took: dict[int, list[float]] = {1: [], 8: []}
        # The first round fills every process's memory, its statements and PostgreSQL's.
        for number in range(size.rounds + 1):
            say(f"round {number} of {size.rounds}")
            pairs = [
                _round(programs, THREADS, size.round_s, servers.app_url, took[8]),
                _round(programs[:1], 1, size.round_s, servers.app_url, took[1]),
            ]
            if number or size.quick:
                many.append(pairs[0])
                one.append(pairs[1])
    return [
        _figure(8, many, Target(">=", 0.35), took[8]),
        _figure(1, one, Target(">=", 0.50), took[1]),
    ]


def _round(
    programs: list[Program], threads: int, seconds: float, dsn: str, took: list[float]
) -> tuple[float, float]:
    for program in programs:
        program.tell("run", threads, seconds)
    answers = [program.answer() for program in programs]
    for answer in answers:
        took += answer["took_s"]
    beside = pgbench.append_rate(
        dsn,
        clients=threads * len(programs),
        seconds=seconds,
        rows=pgbench.DRAW_AND_DISCARD,
    )
    return sum(answer["rate"] for answer in answers), beside


def _figure(
    clients: int, pairs: list[tuple[float, float]], target: Target, took: list[float]
) -> Figure:
    cuts = quantiles(took, n=100)
    return side_by_side(
        bench="service",
        name=f"service action, {clients} client{'s' if clients > 1 else ''}",
        unit="/s",
        compared="pgbench, same append",
        pairs=pairs,
        target=target,
        note=f"a command took {cuts[49] * 1000:.1f} ms at the median, {cuts[98] * 1000:.1f} at p99",
    )
