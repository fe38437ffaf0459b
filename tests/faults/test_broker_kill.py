"""The broker dies under a working Celery worker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery import Celery

from tests.support.servers import ROOT, OwnServers
from tests.support.waiting import until

pytestmark = pytest.mark.fault

KILLS = 3
BACK_S = 20
"""How long a worker may take to find its broker again: it waits a little longer each time."""


@pytest.fixture
def worker(own_servers: OwnServers, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (tmp_path / "worker.log").open("wb") as log:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "celery", "--app", "tests.faults.probe:app", "worker"),
                *("--concurrency", "1", "--without-gossip", "--without-mingle"),
                "--without-heartbeat",
            ],
            cwd=ROOT,
            env={**os.environ, **own_servers.addresses.environment()},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    yield process
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture
def sender(own_servers: OwnServers) -> Iterator[Celery]:
    app = Celery("sender", broker=own_servers.addresses.broker_url)
    app.conf.task_default_queue = "xqmj"
    yield app
    app.close()


class TestWorker:
    def test_works_on_after_its_broker_was_killed(
        self,
        worker: subprocess.Popen[bytes],
        sender: Celery,
        own_servers: OwnServers,
        tmp_path: Path,
    ) -> None:
        before = tmp_path / "before"
        sender.send_task("tests.touch", (str(before),))
        assert until(before.exists, within_s=30), (tmp_path / "worker.log").read_text()

        for n in range(KILLS):
            own_servers.valkey.kill()
            time.sleep(1)
            own_servers.valkey.start()

            after = tmp_path / f"after-{n}"
            sender.send_task("tests.touch", (str(after),))
            log = (tmp_path / "worker.log").read_text()
            assert until(after.exists, within_s=BACK_S), f"after kill {n + 1}:\n{log}"
            assert worker.poll() is None
