"""What Prometheus is shown: the numbers of all processes of a role, at a port of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.servers import ROOT, Servers
from xqmj_site import exporter, roles
from xqmj_site.devstack import processes
from xqmj_site.devstack.runner import end_group

START_S = 90
"""Generous: on a busy machine every import takes its time."""

BEATS = 'xqmj_beats_total{result="ok"}'
LATENESS = "# TYPE xqmj_sweep_lateness_seconds histogram"


def read(url: str) -> str:
    with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - our own address
        return str(answer.read().decode())


def number(text: str, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return float(found.group(1)) if found else 0.0


def until(url: str, true: Callable[[str], bool]) -> str:
    """Ask until the answer is as wanted; gives the last one, empty where there was none."""
    end, text = time.monotonic() + START_S, ""
    while time.monotonic() < end and not true(text):
        try:
            text = read(url)
        except OSError:
            time.sleep(0.2)
    return text


class Role:
    """One role in processes of its own, started as the image starts it."""

    def __init__(self, name: str, servers: Servers, folder: Path) -> None:
        self.port, self.metrics_port = processes.free_port(), processes.free_port()
        self.folder = folder
        with (folder / f"{name}.log").open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "xqmj_site.roles", name],
                cwd=ROOT,
                env={
                    **os.environ,
                    **servers.environment(),
                    "PORT": str(self.port),
                    "WEB_WORKERS": "2",
                    "WORKER_CONCURRENCY": "1",
                    "XQMJ_RUN_DIR": str(folder),
                    "XQMJ_METRICS_PORT": str(self.metrics_port),
                    "PYTHONWARNINGS": "ignore",
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def metrics(self) -> str:
        return f"http://127.0.0.1:{self.metrics_port}/metrics"

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        finally:
            end_group(self.process.pid)


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="xqmj-exporter-") as name:
        yield Path(name)


class TestWeb:
    def test_shows_what_its_processes_count_beside_the_api(
        self, servers: Servers, folder: Path
    ) -> None:
        web = Role("web", servers, folder)
        try:
            text = until(web.metrics, lambda text: number(text, BEATS) > 20)
            files = list((folder / "tmp" / f"metrics-web-{web.metrics_port}").glob("counter_*.db"))
            with pytest.raises(urllib.error.HTTPError) as refused:
                read(f"http://127.0.0.1:{web.port}/metrics")
        finally:
            web.stop()

        # Each of the two processes beats ten times a second and writes a file of its own.
        assert number(text, BEATS) > 20
        assert len(files) == 2
        assert refused.value.code == 404


class TestWorker:
    def test_shows_what_its_sweep_counts(self, servers: Servers, folder: Path) -> None:
        worker = Role("worker", servers, folder)
        try:
            text = until(worker.metrics, lambda text: LATENESS in text)
        finally:
            worker.stop()

        assert LATENESS in text


class TestCounted:
    HOLD = (
        "from matches.services import metrics\n"
        "metrics.WAITERS.inc()\n"
        "metrics.BEATS.labels('ok').inc()\n"
        "print(flush=True)\nimport sys; sys.stdin.read()"
    )

    def test_keeps_what_a_dead_process_counted_and_drops_what_it_held(self, folder: Path) -> None:
        def shown() -> dict[str, float]:
            return {
                sample.name: sample.value
                for metric in exporter.Counted(folder).collect()
                for sample in metric.samples
            }

        with subprocess.Popen(
            [sys.executable, "-c", self.HOLD],
            cwd=ROOT,
            env={**os.environ, exporter.FOLDER: str(folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            living = shown()
        dead = shown()

        assert (living["xqmj_waiters"], living["xqmj_beats_total"]) == (1, 1)
        assert (dead.get("xqmj_waiters", 0), dead["xqmj_beats_total"]) == (0, 1)


class TestVariables:
    def test_name_a_folder_that_is_emptied_at_every_start(self, folder: Path) -> None:
        given = {"XQMJ_RUN_DIR": str(folder), "XQMJ_METRICS_PORT": "8002"}
        made = Path(roles.variables("web", given)[exporter.FOLDER])
        (made / "counter_1.db").touch()

        again = Path(roles.variables("web", given)[exporter.FOLDER])

        assert again == made == folder / "tmp" / "metrics-web-8002"
        assert list(again.iterdir()) == []

    def test_name_none_where_metrics_are_off(self, folder: Path) -> None:
        assert roles.variables("web", {"XQMJ_RUN_DIR": str(folder)}) == {"XQMJ_ROLE": "web"}
        assert list(folder.iterdir()) == []
