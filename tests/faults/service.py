"""Our processes over servers of a test's own, kept running as `manage.py up` keeps them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests.support.servers import ROOT, OwnServers, Servers
from tests.support.waiting import until
from xqmj_site import roles
from xqmj_site.devstack import processes, runner
from xqmj_site.devstack.console import Console
from xqmj_site.devstack.runner import Process, Runner
from xqmj_site.management.commands.up import Server

START_S = 120
"""Generous: on a busy machine every import takes its time."""

SHOWN = 200
"""Lines of answers, and of the log, that a failure tells."""

MISTAKES = (
    "a request failed",
    "a heartbeat failed",
    "a loop failed",
    "the computer could not play",
    "a socket failed",
    "a stream failed",
    "a match could not be settled",
    "a match cannot be read",
    "the listener failed",
    "the heads could not be asked for",
)
"""What our processes log when something happened that nobody thought of."""


def tell(text: str) -> None:
    """Say what a run was like; pytest shows it where the test failed, and with -s."""
    print(text, flush=True)  # noqa: T201


class Service:
    """Some of xqmj's processes over a PostgreSQL and a Valkey.

    `addresses` are where the processes find the servers, which may be a proxy's.
    What `keep` and `keep_postgres` start is started again when it dies, by the
    runner of `manage.py up`, which is told to trust what ran for a second.
    """

    def __init__(
        self, servers: OwnServers, folder: Path, *, addresses: Servers | None = None, **more: str
    ) -> None:
        self.servers = servers
        self.port = processes.free_port()
        self.log = folder / "log"
        self.addresses = addresses or servers.addresses
        self._more = {"XQMJ_RUN_DIR": str(folder), "PORT": str(self.port), **more}
        self._output = self.log.open("a", buffering=1)
        self._runner = Runner(Console(self._output), folder=folder)
        self._steady_s, runner.STEADY_S = runner.STEADY_S, 1.0
        self._kept: dict[str, Process] = {}

    def environment(self, role: str = "none") -> dict[str, str]:
        """What a process needs to run as in production, but without HTTPS."""
        keys = self.servers.postgres.keys
        scopes = ("address", "play", "read", "write", "login", "register", "guest", "new_match")
        return {
            **self.addresses.environment(),
            "DJANGO_SETTINGS_MODULE": "xqmj_site.settings.dev",
            "SECRET_KEY": keys.secret_key,
            "XQMJ_SEAL_KEYS": keys.seal_keys,
            "XQMJ_ROLE": role,
            "XQMJ_THROTTLES": ",".join(f"{scope}=1000000/60" for scope in scopes),
            "PYTHONWARNINGS": "ignore",
            **self._more,
        }

    # --- life --------------------------------------------------------------------------------

    def keep_postgres(self) -> None:
        """Have the runner start PostgreSQL, now and whenever it dies."""
        self._runner.add_foundation(Server("postgres", self.servers.postgres), wait_s=START_S)

    def keep(self, role: str, *, name: str = "", instead: str = "", **more: str) -> None:
        """Have the runner keep a role; `instead` is the application that takes the place of ours.

        That is a module with `application` (web), or with `app` (worker, beat).
        `more` are variables of this process alone.
        """
        environment = {**self.environment(role), **more}
        command = roles.ROLES[role]({**os.environ, **environment})
        if instead and role == "web":
            command[-1] = f"{instead}:application"
        elif instead:
            command[command.index("xqmj_site")] = f"{instead}:app"
        kept = Process(name or role, command, environment=environment, folder=ROOT)
        self._runner.add(kept)
        self._kept[kept.name] = kept

    def answers(self) -> bool:
        """Whether the web role answers."""
        url = f"http://127.0.0.1:{self.port}/api/v1/health"
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def begin(self, *names: str) -> None:
        """Wait until everything named works (all that is kept, where nothing is)."""
        whole = until(lambda: self.whole(*names) and self.answers(), within_s=START_S)
        assert whole, processes.tail(self.log, 60)

    def stop(self) -> None:
        """Stop everything but the servers."""
        self._runner.stop()
        runner.STEADY_S = self._steady_s
        self._output.close()

    # --- what runs ---------------------------------------------------------------------------

    def pid(self, name: str) -> int:
        """The id of a kept process, or of PostgreSQL; 0 while there is none."""
        if name == "postgres":
            return self.servers.postgres.pid() or 0
        child = self._kept[name].child
        return child.pid if child is not None and child.poll() is None else 0

    def replaced(self, name: str, pid: int) -> bool:
        """Whether another process soon takes the place of the one with this id, which dies."""
        return until(lambda: self.pid(name) not in (0, pid), within_s=START_S)

    def children(self, name: str) -> list[int]:
        """The processes of a role or of PostgreSQL that do the work, not those that help."""
        try:
            found = psutil.Process(self.pid(name)).children()
        except psutil.NoSuchProcess:
            return []
        return [one.pid for one in found if "tracker" not in processes.command_line(one.pid)]

    def sessions(self) -> list[int]:
        """The processes of PostgreSQL that serve a session of ours."""
        found = self.children("postgres")
        return [pid for pid in found if "xqmj_app xqmj" in processes.command_line(pid)]

    def whole(self, *names: str) -> bool:
        """Whether each of these (all, where nothing is named) has all its processes."""
        return all(self._whole(name) for name in names or self._kept)

    def _whole(self, name: str) -> bool:
        if name == "postgres":
            return self._postgres_answers()
        wanted = {"web": 2, "worker": 1}.get(name.partition("-")[0], 0)
        return self.pid(name) > 0 and len(self.children(name)) >= wanted

    def _postgres_answers(self) -> bool:
        try:
            self.servers.postgres.connect().close()
        except psycopg.OperationalError:
            return False
        return True

    def mistakes(self) -> list[str]:
        """The lines of the log that should not be there."""
        lines = self.log.read_text(errors="replace").splitlines()
        return [line for line in lines if any(words in line for words in MISTAKES)]

    def told_around(self, wrong: Sequence[str]) -> str:
        """Answers that nobody should get, and what was logged in the seconds when they came.

        Each begins with its second; a log line holds its own.
        """
        seconds = {text[:8] for text in wrong}
        lines = self.log.read_text(errors="replace").splitlines()
        hits = [n for n, line in enumerate(lines) if any(second in line for second in seconds)]
        shown = sorted({n + more for n in hits for more in range(-3, 4)} & set(range(len(lines))))
        return "\n".join([*wrong[:SHOWN], "--- logged:", *(lines[n] for n in shown[:SHOWN])])

    # --- beside it ---------------------------------------------------------------------------

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of `manage.py` to its end."""
        return self.python("manage.py", *arguments)

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run Python to its end, in the environment of a process of ours."""
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={**os.environ, **self.environment()},
            capture_output=True,
            check=False,
            text=True,
            timeout=START_S,
        )

    def query(self, statement: str, params: Sequence[Any] = ()) -> list[Any]:
        """Rows of a statement, run as the superuser."""
        with self.servers.postgres.connect("xqmj") as connection:
            return connection.execute(statement, params).fetchall()


def kill(pid: int, number: signal.Signals = signal.SIGKILL) -> None:
    """End one process that we started (or that what we started did), by its id."""
    assert pid > 1
    os.kill(pid, number)
