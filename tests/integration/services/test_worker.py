"""The worker's own loops, in a real Celery worker that never finds its broker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from matches.services import heartbeat, notices
from matches.services.accounts import Identity
from tests.integration.services.test_sweep import discarded
from tests.support.guests_table import GuestsTable
from tests.support.seated import Seated
from tests.support.servers import ROOT, Servers, own_database
from tests.support.waiting import until

Make = Callable[..., Identity]

START_S, STOP_S = 60, 20


@pytest.fixture(scope="module", autouse=True)
def own(servers: Servers) -> Iterator[Servers]:
    """A database without the matches that other tests have made unreadable."""
    with own_database("worker", instead_of=servers) as found:
        heartbeat.ensure()
        yield found
    heartbeat.ensure()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "worker.log"


Start = Callable[[], subprocess.Popen[bytes]]


@pytest.fixture
def start(own: Servers, log: Path) -> Iterator[Start]:
    """Starts workers that never find their broker."""
    environment = {**os.environ, **own.environment(), "XQMJ_ROLE": "worker"}
    environment["BROKER_URL"] = "redis://127.0.0.1:1/0"
    started: list[subprocess.Popen[bytes]] = []

    def one() -> subprocess.Popen[bytes]:
        with log.open("ab") as output:
            process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "celery", "--app", "xqmj_site", "worker"),
                    *("--concurrency", "1", "--without-gossip", "--without-mingle"),
                    "--without-heartbeat",
                ],
                cwd=ROOT,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        started.append(process)
        return process

    yield one
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture
def worker(start: Start) -> subprocess.Popen[bytes]:
    return start()


def drawn(seated: Seated, *, within_s: float) -> bool:
    """Whether somebody else lets the table draw."""
    return until(lambda: seated.rows[-1].kind == "xqmj.tile_drawn", within_s=within_s)


class TestWorkerWithoutABroker:
    def test_sweeps_and_ends_when_it_is_told_to(
        self, worker: subprocess.Popen[bytes], log: Path, player: Make
    ) -> None:
        first = discarded(player)
        assert drawn(first, within_s=START_S), log.read_text()

        second = discarded(player)
        assert drawn(second, within_s=10), log.read_text()
        discarded_row, drawn_row = [
            row for row in second.rows if row.kind.startswith("xqmj.tile_")
        ][-2:]
        assert drawn_row.at_ms == discarded_row.at_ms + 1_500

        worker.send_signal(signal.SIGTERM)
        worker.wait(STOP_S)
        assert b"Traceback" not in log.read_bytes(), log.read_text()


class TestComputerWithoutABroker:
    def test_is_played_on_when_the_worker_that_played_it_is_killed(
        self, start: Start, log: Path, player: Make, own: Servers
    ) -> None:
        """What reminds of its turn is lost with it."""
        first, table = start(), GuestsTable(player("guest"))
        assert table.play(until=2, within_s=START_S), log.read_text()

        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
        notices.flush()
        with psycopg.connect(own.owner_url, autocommit=True) as owner:
            owner.execute("DELETE FROM matches_computer_turn")
        start()

        assert table.play(until=table.discards() + 2, within_s=START_S), log.read_text()
