"""Appends to the log by many clients at once, and how long the store's own calls take."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from statistics import median

from matches.eventstore import store
from tests.bench import pgbench
from tests.bench.figures import Figure, Target, side_by_side
from tests.bench.stage import Say, Size, Stage
from tests.bench.writing import append, batches, begin
from tests.support.recording import finished

CLIENTS = 16
SEED = 0
WHOLE_LOADS = 20


def run(stage: Stage, size: Size, say: Say) -> list[Figure]:
    """Appends a second of 16 clients, in turn with as many that take one lock for all matches."""
    servers = stage.database()
    pairs: list[tuple[float, float]] = []
    for number in range(1, size.rounds + 1):
        say(f"round {number} of {size.rounds}")
        rates = [
            pgbench.append_rate(
                servers.app_url, clients=CLIENTS, seconds=size.round_s, global_lock=lock
            )
            for lock in (False, True)
        ]
        pairs.append((rates[0], rates[1]))
    with stage.store(servers):
        latency = _latency()
    return [
        side_by_side(
            bench="store",
            name=f"appends, {CLIENTS} clients",
            unit="/s",
            compared="one global advisory lock",
            pairs=pairs,
            target=Target(">=", 2.5),
        ),
        *latency,
    ]


def _latency() -> list[Figure]:
    """Median time of a call in one thread: a load of what is new, an append, a load of it all."""
    log = finished(SEED)
    match_id = begin(log)
    loads: list[float] = []
    appends: list[float] = []
    for batch in batches(log.rows)[1:]:
        loads.append(_timed_ms(partial(store.load, match_id, after_version=batch[0].seq - 1)))
        appends.append(_timed_ms(partial(append, log, match_id, batch)))
    whole = [_timed_ms(partial(store.load, match_id)) for _ in range(WHOLE_LOADS)]
    note = f"median of one thread; load of all {len(log.rows)} events"
    return [
        Figure(bench="store", name="a load of nothing new", value=median(loads), unit="ms"),
        Figure(bench="store", name="an append", value=median(appends), unit="ms"),
        Figure(bench="store", name="a load of a match", value=median(whole), unit="ms", note=note),
    ]


def _timed_ms(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1e3
