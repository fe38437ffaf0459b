"""What the benches run on: throw-away servers, databases of their own, processes over them."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import psycopg

from tests.support import servers as support
from tests.support.servers import ROOT, Servers
from xqmj_site import roles
from xqmj_site.devstack import processes
from xqmj_site.devstack.postgres import PostgresServer
from xqmj_site.devstack.runner import Process, end_group
from xqmj_site.devstack.valkey import ValkeyServer

TEMPLATE = "bench_template"
READY_S = 60.0

_SWEEPS = """
SELECT FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid
 WHERE d.datname = current_database() AND s.query LIKE '%due_matches%'
"""

Say = Callable[[str], None]


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """How long things are measured; `quick` shows that they run, its figures mean nothing."""

    quick: bool = False
    rounds: int = 5
    round_s: float = 3.0
    sweep_s: float = 60.0
    live_matches: int = 1_000
    worker_matches: int = 2_000


FULL = Size()
QUICK = Size(quick=True, rounds=1, round_s=0.5, sweep_s=5.0, live_matches=20, worker_matches=12)


class Program:
    """A process that answers every line on its input with one line of JSON."""

    def __init__(self, command: Sequence[str], environment: dict[str, str], log: Path) -> None:
        self._log = log
        with log.open("ab") as errors:
            self._child = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ, **environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._child.pid

    def tell(self, *words: str | float) -> None:
        """Send a line; `answer` must be called before the next."""
        assert self._child.stdin is not None
        self._child.stdin.write(" ".join(map(str, words)) + "\n")
        self._child.stdin.flush()

    def answer(self) -> Any:
        """The answer to the line sent last; RuntimeError where the program died."""
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            raise RuntimeError(f"a process of the bench died:\n{processes.tail(self._log, 40)}")
        return json.loads(line)

    def ask(self, *words: str | float) -> Any:
        """Send a line and wait for its answer."""
        self.tell(*words)
        return self.answer()

    def stop(self) -> None:
        """Close its input, which ends it; kill what does not end."""
        assert self._child.stdin is not None
        with contextlib.suppress(OSError):
            self._child.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(20)
        end_group(self._child.pid)
        self._child.wait()


class Stage:
    """PostgreSQL and Valkey, and what is started over them."""

    def __init__(self, folder: Path, postgres: PostgresServer, valkey: ValkeyServer) -> None:
        self.folder = folder
        self.postgres = postgres
        self._valkey = valkey
        self._databases = 0

    def database(self) -> Servers:
        """The addresses of a new database, migrated, and of two Valkey numbers of its own."""
        self._databases += 1
        name = f"bench_{self._databases}"
        self.postgres.create_database(name, template=TEMPLATE)
        return support.addresses(self.postgres, self._valkey, name, self._databases)

    def environment(self, servers: Servers, role: str, **more: str) -> dict[str, str]:
        """What a process of ours needs to run as in production, but without HTTPS.

        All clients have one address here, so that address may ask as often as it likes, and all
        are new; every other limit is as it is delivered.
        """
        return {
            **servers.environment(),
            "DJANGO_SETTINGS_MODULE": "xqmj_site.settings.dev",
            "SECRET_KEY": self.postgres.keys.secret_key,
            "XQMJ_SEAL_KEYS": self.postgres.keys.seal_keys,
            "XQMJ_ROLE": role,
            "XQMJ_THROTTLES": "address=100000000/60,guest=100000000/60,new_match=100000000/60",
            "XQMJ_LOG_LEVEL": "WARNING",
            "XQMJ_RUN_DIR": str(self.folder),
            **more,
        }

    @contextlib.contextmanager
    def store(self, servers: Servers) -> Iterator[None]:
        """Point this process's own event store at a database."""
        from django.conf import settings

        from matches.eventstore import pool

        settings.DATABASE_URL = servers.app_url
        pool.close()
        try:
            yield
        finally:
            pool.close()

    @contextlib.contextmanager
    def program(self, servers: Servers, module: str, *arguments: str | float) -> Iterator[Program]:
        """A process of the bench that counts as a process that answers players."""
        environment = self.environment(servers, "web", XQMJ_CACHE_MATCHES="8192")
        command = [sys.executable, "-m", f"tests.bench.{module}", *map(str, arguments)]
        program = Program(command, environment, self.folder / f"{module}.log")
        try:
            yield program
        finally:
            program.stop()

    @contextlib.contextmanager
    def web(self, servers: Servers, *, application: str = "", **more: str) -> Iterator[int]:
        """The web role as in production; `application` puts another one in its place.

        Yields its port.
        """
        port = processes.free_port()
        environment = self.environment(servers, "web", PORT=str(port), **more)
        command = roles.web(environment)
        if application:
            command[-1] = application
        with self._running("web", command, environment):
            _wait_for(port)
            yield port

    @contextlib.contextmanager
    def live(self, servers: Servers, **more: str) -> Iterator[tuple[int, int]]:
        """The live role as in production; yields its port and its process."""
        port = processes.free_port()
        environment = self.environment(servers, "live", LIVE_PORT=str(port), **more)
        with self._running("live", roles.live(environment), environment) as pid:
            _wait_for(port, "/live/v1/health")
            yield port, pid

    @contextlib.contextmanager
    def worker(self, servers: Servers, **more: str) -> Iterator[int]:
        """The worker role as in production; yields the id of the process that sweeps."""
        environment = self.environment(servers, "worker", **more)
        with self._running("worker", roles.worker(environment), environment) as pid:
            _wait_until_sweeping(servers)
            yield pid

    def manage(self, servers: Servers, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a management command to its end, however it ends."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env={**os.environ, **self.environment(servers, "none")},
            capture_output=True,
            check=False,
            text=True,
        )

    @contextlib.contextmanager
    def _running(self, name: str, command: list[str], environment: dict[str, str]) -> Iterator[int]:
        process = Process(name, command, environment=environment, folder=ROOT)
        with (self.folder / f"{name}.log").open("ab") as log:
            child = process.start(log)
        try:
            yield child.pid
        finally:
            process.stop()


@contextlib.contextmanager
def set_up(folder: Path) -> Iterator[Stage]:
    """Start servers in `folder`, which must exist, and stop them at the end."""
    # How late a row was written is asked of PostgreSQL, which remembers it for this once.
    settings = {"track_commit_timestamp": "on"}
    with support.running(folder, settings=settings) as (postgres, valkey):
        support.migrate(postgres, TEMPLATE)
        yield Stage(folder, postgres, valkey)


def _wait_until_sweeping(servers: Servers) -> None:
    end = time.monotonic() + READY_S
    with psycopg.connect(servers.superuser_url, autocommit=True) as connection:
        while not connection.execute(_SWEEPS).fetchall():
            if time.monotonic() > end:
                raise RuntimeError("the worker does not sweep")
            time.sleep(0.1)


def _wait_for(port: int, path: str = "/api/v1/health") -> None:
    """Wait until a server answers."""
    end = time.monotonic() + READY_S
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", path)
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        finally:
            connection.close()
        if time.monotonic() > end:
            raise RuntimeError("the server does not answer")
        time.sleep(0.1)
