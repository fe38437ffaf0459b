"""A process that holds a lock stops: the lock comes free by itself, and nobody waits for long."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import psutil
import pytest

from tests.faults import ours
from tests.faults.clients import Book, Caller, Table
from tests.faults.service import START_S, Service, kill, tell
from tests.support.servers import ROOT
from tests.support.waiting import until

pytestmark = [pytest.mark.fault, pytest.mark.slow]

Start = Callable[..., Service]

SEED = 20266
REFUSED_S, LATEST_S = 3.0, 8.0
"""Whoever needs the lock is told that he cannot have it: most of the time, and at the latest."""
FREE_S, LATEST_FREE_S = 10.0, 30.0
"""The lock is free again: PostgreSQL ends a transaction that nobody goes on with after 5 s."""
QUICK_S = 1.0
"""Whoever does not need it notices nothing."""


def stopped(pid: int) -> bool:
    """Whether a process stands still."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() == psutil.STATUS_STOPPED
    return False


@contextlib.contextmanager
def holder(service: Service, table: Table) -> Iterator[subprocess.Popen[str]]:
    """A stopped process that holds a match's lock, as if its first player had resigned."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.faults.holding", table.match_id, table.players[0].id],
        cwd=ROOT,
        env={**os.environ, **service.environment()},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert until(lambda: stopped(process.pid) or process.poll(), within_s=START_S)
            assert process.poll() is None, process.stderr and process.stderr.read()
            yield process
        finally:
            process.kill()


def refusals(port: int, table: Table) -> list[float]:
    """How long a player waits each time he is told that he cannot resign now, until he can."""
    caller = Caller(port, Book(), chance=random.Random(0), persists=False)
    caller.token = table.players[1].token
    found = list[float]()
    while sum(found) < LATEST_FREE_S:
        begun_s = time.monotonic()
        status = caller.post(f"matches/{table.match_id}/resign", {}, key="the-only-one").status
        if status == 200:
            caller.close()
            assert caller.book.wrong == []
            return found
        assert status == 503
        found.append(time.monotonic() - begun_s)
    raise AssertionError(f"the lock is not free after {found}")


def paces(table: Table, number: int) -> list[float]:
    """How long writes of another match take."""
    table.match_id = ""
    while len(table.players[0].book.acknowledged()) < number:
        if not table.match_id:
            table.begin()
        table.step()
    return [one.answered_s - one.tried_s for one in table.players[0].book.acknowledged()]


class TestStopped:
    def test_in_a_match_is_waited_for_by_nobody(self, service: Start) -> None:
        xqmj = service()
        xqmj.keep("web")
        xqmj.begin()
        table, other = (Table(xqmj.port, Book(), seed=f"{SEED}/{n}") for n in range(2))
        for one in (table, other):
            one.enter()
            one.begin()

        with holder(xqmj, table) as process:
            begun_s = time.monotonic()
            waited = refusals(xqmj.port, table)
            free_s = time.monotonic() - begun_s
            spent = paces(other, 12)
            still = stopped(process.pid)
            kill(process.pid, signal.SIGCONT)
            code = process.wait(START_S)

        tell(f"refused after {waited}, free after {free_s:.2f} s, others {median(spent):.3f} s")
        assert still
        assert code != 0, "what was lost was committed"
        assert waited
        assert median(waited) <= REFUSED_S
        assert max(waited) <= LATEST_S
        assert free_s <= FREE_S
        assert median(spent) <= QUICK_S
        ended = "SELECT count(*), min(actor) FROM es.match_event WHERE kind = 'match.ended'"
        ended += " AND match_id = %s::uuid"
        assert xqmj.query(ended, (table.match_id,)) == [(1, 1)]
        assert xqmj.mistakes() == []
        for one in (table, other):
            one.close()

    def test_while_it_rates_leaves_the_ratings_to_another(
        self, service: Start, tmp_path: Path
    ) -> None:
        stall = tmp_path / "stall"
        xqmj = service(**{ours.STALL: str(stall), "WORKER_CONCURRENCY": "1"})
        xqmj.keep("web")
        for name in ("worker-1", "worker-2"):
            xqmj.keep("worker", name=name, instead="tests.faults.ours")
        xqmj.keep("beat")
        xqmj.begin()
        table = Table(xqmj.port, Book(), seed=f"{SEED}")
        table.rated = True
        table.enter()
        table.begin()
        stall.touch()

        table.send(table.players[0], "resign")
        assert until(lambda: list(tmp_path.glob("stall.*")), within_s=30)
        stopped_s = time.monotonic()
        pid = int(next(tmp_path.glob("stall.*")).suffix[1:])
        assert until(lambda: stopped(pid), within_s=5)
        rated = "SELECT count(*) FROM ratings_ratingevent WHERE match_id = %s::uuid"
        given = (table.match_id,)
        assert xqmj.query(rated, given) == [(0,)]
        assert until(lambda: xqmj.query(rated, given) != [(0,)], within_s=LATEST_FREE_S)
        free_s = time.monotonic() - stopped_s
        assert stopped(pid)
        kill(pid, signal.SIGCONT)
        next_match = table.begin()
        table.send(table.players[0], "resign")
        assert until(lambda: xqmj.query(rated, (next_match,)) == [(2,)], within_s=30)

        table.close()
        tell(f"free after {free_s:.2f} s")
        assert xqmj.query(rated, given) == [(2,)]
        assert table.players[0].book.wrong == []
        assert xqmj.mistakes() == []
