"""`manage.py up`: starts everything, mends what dies, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest

from tests.support.servers import ROOT
from tests.support.waiting import until
from xqmj_site.devstack import environment, processes

pytestmark = [pytest.mark.fault, pytest.mark.slow]

# Generous: on a busy machine every import takes its time.
START_S = 150
MEND_S = 40
STOP_S = 40


class Up:
    """One `manage.py up` with data and ports of its own."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.log = folder / "up.log"
        self.port = processes.free_port()
        self.live_port = processes.free_port()
        self.metrics_port = processes.free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": os.environ.get("HOME", "/"),
            "PORT": str(self.port),
            "LIVE_PORT": str(self.live_port),
            "XQMJ_METRICS_PORT": str(self.metrics_port),
            "XQMJ_DATA_DIR": str(self.data),
        }

    def run(self) -> subprocess.CompletedProcess[str]:
        """Run a second one to its end."""
        return subprocess.run(
            [sys.executable, "manage.py", "up"],
            cwd=ROOT,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def start(self) -> None:
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up"],
                cwd=ROOT,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        assert until(lambda: self.says("xqmj serves"), within_s=START_S), self.log.read_text()

    def says(self, words: str) -> bool:
        return words in self.log.read_text()

    def family(self) -> list[psutil.Process]:
        assert self.process is not None
        found: list[psutil.Process] = psutil.Process(self.process.pid).children(recursive=True)
        return found

    def member(self, *words: str) -> psutil.Process:
        """Return the eldest process with these words in its command line."""
        found = [one for one in self.family() if all(w in " ".join(one.cmdline()) for w in words)]
        return min(found, key=lambda one: one.create_time())

    def answers(self, path: str = "/api/v1/readiness", port: int | None = None) -> bool:
        url = f"http://127.0.0.1:{port or self.port}{path}"
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def stop(self, number: signal.Signals) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(STOP_S)


@pytest.fixture(scope="module")
def up() -> Iterator[Up]:
    folder = Path(tempfile.mkdtemp(prefix="xqmj-up-"))
    folder.chmod(0o711)
    made = Up(folder)
    made.start()
    yield made
    if made.process is not None and made.process.poll() is None:
        made.stop(signal.SIGTERM)


class TestUp:
    def test_serves_pages_api_and_streams(self, up: Up) -> None:
        assert up.answers("/api/v1/readiness")
        assert up.answers("/api/v1/docs")
        assert up.answers("/admin/login/")
        assert up.answers("/live/v1/health", up.live_port)

    def test_shows_metrics_of_each_role_at_a_port_of_its_own(self, up: Up) -> None:
        for n in range(3):
            assert until(partial(up.answers, "/metrics", up.metrics_port + n), within_s=MEND_S)
        assert not up.answers("/metrics")

    def test_names_a_first_request_that_works(self, up: Up) -> None:
        found = re.search(r"curl -s (http://127\.0\.0\.1:\d+)(/\S+)", up.log.read_text())

        assert found is not None
        assert found.group(1).endswith(f":{up.port}")
        assert up.answers(found.group(2))

    def test_keeps_keys_and_addresses_to_its_user(self, up: Up) -> None:
        for name in ("keys.json", "environment.json"):
            assert stat.S_IMODE((up.data / name).stat().st_mode) == 0o600

    def test_leaves_its_addresses_to_other_commands(self, up: Up) -> None:
        done = subprocess.run(
            [sys.executable, "manage.py", "check", "--database", "default"],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "XQMJ_DATA_DIR": str(up.data)},
            capture_output=True,
            text=True,
            check=False,
        )

        assert done.returncode == 0, done.stderr
        assert environment.read(up.data)["XQMJ_URL"] == f"http://127.0.0.1:{up.port}"

    def test_names_the_taken_port_and_its_setting(self, up: Up) -> None:
        second = Up(up.data.parent / "second")
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            second.live_port = other.getsockname()[1]
            done = second.run()

        assert done.returncode == 1
        assert f"Port {second.live_port} on 127.0.0.1 is taken" in done.stderr
        assert "LIVE_PORT" in done.stderr
        assert "Traceback" not in done.stderr

    def test_refuses_to_run_twice_over_the_same_data(self, up: Up) -> None:
        second = Up(up.data.parent)

        done = second.run()

        assert done.returncode == 1
        assert "already runs" in done.stderr
        assert up.answers()

    @pytest.mark.parametrize(
        "words",
        [
            ("granian", "xqmj_site.wsgi"),
            ("granian", "xqmj_site.asgi"),
            ("celery", "worker"),
            ("celery", "beat"),
            ("postgres", "-D"),
            ("valkey-server",),
        ],
        ids=["web", "live", "worker", "beat", "postgres", "valkey"],
    )
    def test_starts_again_what_is_killed(self, up: Up, words: tuple[str, ...]) -> None:
        killed = up.member(*words)

        killed.kill()

        def mended() -> bool:
            try:
                return up.member(*words).pid != killed.pid and up.answers()
            except (ValueError, psutil.NoSuchProcess):
                return False

        assert until(mended, within_s=MEND_S), up.log.read_text()[-4000:]
        assert until(lambda: up.answers("/live/v1/health", up.live_port), within_s=MEND_S)

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda n: n.name)
    def test_stops_everything(self, up: Up, number: signal.Signals) -> None:
        if up.process is None or up.process.poll() is not None:
            up.start()
        family = up.family()
        assert len(family) > 10

        code = up.stop(number)

        _, left = psutil.wait_procs(family, timeout=10)
        assert [" ".join(one.cmdline()) for one in left] == []
        assert code == 0

    def test_ends_what_a_killed_run_left_behind(self, up: Up) -> None:
        up.start()
        left = up.family()
        assert up.process is not None
        up.process.kill()
        up.process.wait()

        up.start()

        assert up.says("left behind")
        _, alive = psutil.wait_procs(left, timeout=10)
        assert alive == []
        assert up.answers()
