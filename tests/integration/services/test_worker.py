"""The worker's own sweep, in a real Celery worker that never finds its broker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from matches.services import heartbeat
from matches.services.accounts import Identity
from tests.integration.services.test_sweep import discarded
from tests.support.seated import Seated
from tests.support.servers import ROOT, Servers, own_database

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


@pytest.fixture
def worker(own: Servers, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    environment = {**os.environ, **own.environment(), "XQMJ_ROLE": "worker"}
    environment["BROKER_URL"] = "redis://127.0.0.1:1/0"
    with log.open("wb") as output:
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
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def drawn(seated: Seated, *, within_s: float) -> bool:
    """Whether somebody else lets the table draw."""
    end_s = time.monotonic() + within_s
    while time.monotonic() < end_s:
        if seated.rows[-1].kind == "xqmj.tile_drawn":
            return True
        time.sleep(0.02)
    return False


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
