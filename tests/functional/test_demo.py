"""The demo: with a short pause against this process, and for real against everything together."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import IO, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest
from django.core.management import CommandError, call_command

from matches.games.xqmj.rules import TwoPlayerRules
from matches.management.demo import player
from matches.management.demo.ink import Ink
from matches.management.demo.show import Demo
from ratings.services import apply_finished
from tests.support import wsgi
from tests.support.servers import ROOT
from xqmj_site.devstack import processes

OF_THE_TESTS = frozenset(
    {"DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "BROKER_URL", "DJANGO_SETTINGS_MODULE"}
)
"""Variables that would lead `manage.py up` to the servers of the tests."""


class Server(ThreadingMixIn, WSGIServer):
    """This process's API over a socket."""

    daemon_threads = True


class Quiet(WSGIRequestHandler):
    """Says nothing."""

    def log_message(self, *_args: Any) -> None:
        """Nothing."""


@pytest.fixture
def url(_django_db_helper: None) -> Iterator[str]:
    """The address of the API in this process, with ratings applied as the worker does."""
    server = make_server(
        "127.0.0.1", 0, wsgi.application(), server_class=Server, handler_class=Quiet
    )
    over = threading.Event()

    def rate() -> None:
        while not over.wait(0.2):
            apply_finished()

    threads = [
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True),
        threading.Thread(target=rate, daemon=True),
    ]
    for thread in threads:
        thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    over.set()
    server.shutdown()
    server.server_close()
    for thread in threads:
        thread.join()


class TestDemo:
    def test_plays_proves_and_rates_a_match(
        self, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(TwoPlayerRules, "pause_ms", 20)
        monkeypatch.setattr(player, "READING_S", 0.0)
        out = io.StringIO()

        demo = Demo(out, url=url, ink=Ink(colour=False, wide=False), patience_s=20)
        demo.run(ruleset="xqmj-32-2p", control="3+2")

        told = out.getvalue()
        assert "hand 6/6" in told
        assert re.search(r"by score$", told, re.MULTILINE)
        assert re.search(r"^proven: all \d+ events are proven$", told, re.MULTILINE)
        assert len(re.findall(r"xqmj-32-2p-blitz: 1500 ± 350  to  \d+ ± \d+", told)) == 2

    def test_says_where_it_looked_for_a_server(self) -> None:
        with pytest.raises(CommandError, match=r"No server at http://127\.0\.0\.1:1 "):
            call_command("demo", "--url", "http://127.0.0.1:1", "--patience", "0.1")

    def test_refuses_what_is_no_address(self) -> None:
        with pytest.raises(CommandError, match="not the address"):
            call_command("demo", "--url", "nonsense")


class Everything:
    """`manage.py up` with data, ports and servers of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **{name: text for name, text in os.environ.items() if name not in OF_THE_TESTS},
            "XQMJ_DATA_DIR": str(folder / "data"),
            "PORT": str(processes.free_port()),
            "LIVE_PORT": str(processes.free_port()),
            "XQMJ_METRICS_PORT": "0",
            "PYTHONUNBUFFERED": "1",
        }
        self.log = folder / "log"
        with self.log.open("wb") as log:
            self.up = self._manage("up", log)

    def _manage(self, command: str, output: IO[bytes], *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "manage.py", command, *arguments],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )

    def started(self, command: str, *arguments: str) -> tuple[subprocess.Popen[bytes], Path]:
        """A command beside it, and the file that it writes to."""
        path = self.folder / command
        with path.open("wb") as output:
            return self._manage(command, output, *arguments), path

    def kill(self, word: str) -> None:
        """End the program whose command line has the word, and its children, with -9."""
        named = [pid for pid in children(self.up.pid) if word in processes.command_line(pid)]
        assert named, word
        theirs = [child for parent in named for child in children(parent)]
        for pid in (*named, *theirs):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        """Stop it as Ctrl-C does."""
        self.up.send_signal(signal.SIGINT)
        self.up.wait(60)


def children(parent: int) -> list[int]:
    done = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, check=False, text=True
    )
    return [int(pid) for pid in done.stdout.split()]


def wait_for(path: Path, text: str, *, timeout_s: float) -> str:
    """What a file holds as soon as the text stands in it."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        held = path.read_text(errors="replace")
        if text in held:
            return held
        time.sleep(0.1)
    raise AssertionError(f"no {text!r} in:\n{path.read_text(errors='replace')[-3000:]}")


@pytest.fixture
def everything() -> Iterator[Everything]:
    folder = Path(tempfile.mkdtemp(prefix="xqmj-demo-"))
    folder.chmod(0o711)  # PostgreSQL started by root runs as somebody else, who must get below
    found = Everything(folder)
    try:
        wait_for(found.log, "make demo", timeout_s=120)
        yield found
    finally:
        found.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.slow
@pytest.mark.fault
@pytest.mark.timeout(600)
class TestDemoAgainstEverything:
    def test_survives_the_death_of_every_process_and_loses_nothing(
        self, everything: Everything
    ) -> None:
        demo, told = everything.started("demo", "--patience", "90")
        for hand, word in ((1, "wsgi"), (2, "postgres"), (3, "worker"), (4, "wsgi")):
            wait_for(told, f"hand {hand}/6", timeout_s=180)
            everything.kill(word)

        assert demo.wait(300) == 0, told.read_text(errors="replace")
        assert "events are proven" in told.read_text()

        audit, found = everything.started("verify_log", "--all")
        assert audit.wait(60) == 0, found.read_text()
        assert "1 matches" in found.read_text()
