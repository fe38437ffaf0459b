"""A role as it runs in production, over the throw-away servers."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.support.servers import ROOT, Servers
from xqmj_site.devstack import processes

START_S = 60


class Serving(NamedTuple):
    """Where a role listens on this machine, and its process."""

    port: int
    pid: int


@contextlib.contextmanager
def serving(
    role: str, *, servers: Servers, folder: Path, health: str, **environment: str
) -> Iterator[Serving]:
    """Run a role on a free port until the block ends; `health` is what it answers."""
    port = processes.free_port()
    log = folder / f"{role}.log"
    given = {**os.environ, **servers.environment(), "PORT": str(port), "LIVE_PORT": str(port)}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "xqmj_site.roles", role],
            cwd=ROOT,
            env={**given, **environment},
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _await(port, health, process, log)
        yield Serving(port, process.pid)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=30)


def _await(port: int, path: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        assert process.poll() is None, processes.tail(log, 30)
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", path)
            if connection.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(processes.tail(log, 30))
