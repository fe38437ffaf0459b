"""Celery workers are killed one after the other while tables have something to do."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import cycle
from statistics import quantiles

import pytest

from tests.faults import ours
from tests.faults.absent import Absent, live
from tests.faults.logbook import Log
from tests.faults.service import Service, kill, tell
from tests.support.waiting import until

pytestmark = [pytest.mark.fault, pytest.mark.slow, pytest.mark.timeout(600)]

Start = Callable[..., Service]

SEED = 20262
KILLS = 6
LATE_MS, LATEST_MS = 1_500, 15_000
"""How late a table acts nearly always, and on the busiest machine."""
WORKERS = ("worker-1", "worker-2")


class TestKill:
    def test_of_a_worker_leaves_its_deadlines_to_another(self, service: Start) -> None:
        chance = random.Random(SEED)
        tell(f"seed {SEED}")
        workers = service(**{ours.SHORT: "1", "WORKER_CONCURRENCY": "1"})
        workers.keep("web", instead="tests.faults.ours")
        for name in WORKERS:
            workers.keep("worker", name=name, instead="tests.faults.ours")
        workers.begin()

        with Absent(workers, seed=SEED) as absent:
            for _, name in zip(range(KILLS), cycle(WORKERS), strict=False):
                absent.wait_for(chance.randrange(2, 8))
                killed = workers.pid(name)
                kill(killed)
                assert workers.replaced(name, killed)
                workers.begin()
        assert until(lambda: live(workers) == 0, within_s=30)

        log = Log(workers)
        assert not absent.book.wrong, workers.told_around(absent.book.wrong)
        assert set(log.matches) == set(absent.matches)
        for rows in log.matches.values():
            assert [row.kind for row in rows].count("match.ended") == 1
        acts = log.acts_of_the_table()
        late = sorted(row.late_ms for row in acts)
        tell(f"{len(acts)} acts, late by {quantiles(late, n=20)} and at most {late[-1]} ms")
        assert late[0] >= 0
        assert quantiles(late, n=20)[-1] <= LATE_MS
        assert late[-1] <= LATEST_MS
        proof = workers.python("-m", "tests.faults.ours", "verify_log", "--all")
        assert proof.returncode == 0, proof.stdout + proof.stderr
        assert workers.mistakes() == []
