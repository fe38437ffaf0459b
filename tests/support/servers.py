"""The throw-away servers of one test run, and who hosts them.

One process of its own (this module run as a program) starts PostgreSQL and
Valkey, migrates a template database once, and stops both when it is told to or
when the run that asked for it is gone, however that ended. The first test that
needs a server starts the host; tests that need none never pay for it.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from xqmj_site.devstack import keyring, processes
from xqmj_site.devstack.postgres import PostgresServer
from xqmj_site.devstack.valkey import ValkeyServer

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = "XQMJ_TEST_FOLDER"
RUN_PID = "XQMJ_TEST_PID"

TEMPLATE = "xqmj_template"
OWN_DATABASE = "xqmj"
READY_TIMEOUT_S = 120


@dataclass(frozen=True)
class Servers:
    """Addresses that one worker's tests use: its own database, its own Valkey numbers."""

    database: str
    superuser_url: str
    owner_url: str
    app_url: str
    auditor_url: str
    redis_url: str
    broker_url: str

    def environment(self) -> dict[str, str]:
        """Return the variables a process of ours needs to use the same servers."""
        return {
            "DJANGO_SETTINGS_MODULE": "xqmj_site.settings.test",
            "DATABASE_URL": self.app_url,
            "DATABASE_OWNER_URL": self.owner_url,
            "REDIS_URL": self.redis_url,
            "BROKER_URL": self.broker_url,
        }


class OwnServers(NamedTuple):
    """A PostgreSQL and a Valkey of a test's own, which it may stop, kill and start again."""

    postgres: PostgresServer
    valkey: ValkeyServer

    @property
    def addresses(self) -> Servers:
        """Return their addresses, which stay the same over a restart."""
        return addresses(self.postgres, self.valkey, OWN_DATABASE, 0)


def migrate(postgres: PostgresServer, database: str) -> None:
    """Create a database and bring its schema up, as the owner."""
    postgres.create_roles()
    postgres.create_database(database)
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity=0"],
        cwd=ROOT,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "xqmj_site.settings.test",
            "DATABASE_URL": postgres.url("app", database),
            "DATABASE_OWNER_URL": postgres.url("owner", database),
        },
        capture_output=True,
        check=False,
        text=True,
    )
    if done.returncode != 0:
        raise RuntimeError(f"migrate failed:\n{done.stdout}{done.stderr}")


def addresses(postgres: PostgresServer, valkey: ValkeyServer, database: str, n: int) -> Servers:
    """Return the addresses of one database and of the `n`-th pair of Valkey numbers."""
    return Servers(
        database=database,
        superuser_url=postgres.url("superuser", database),
        owner_url=postgres.url("owner", database),
        app_url=postgres.url("app", database),
        auditor_url=postgres.url("auditor", database),
        redis_url=valkey.url(2 * n),
        broker_url=valkey.url(2 * n + 1),
    )


# --- asked by tests -------------------------------------------------------------------------------


def for_this_worker(label: str = "") -> Servers:
    """Return this worker's servers, with the database of that label.

    Starts the host and clones the database when needed. `FOLDER` in the
    environment names the folder that all workers of the run share, `RUN_PID` the
    process whose end ends the servers.
    """
    folder, run_pid = Path(os.environ[FOLDER]), int(os.environ[RUN_PID])
    worker = os.environ.get("PYTEST_XDIST_WORKER", "master")
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "ready.json").exists():
            _start_host(folder, run_pid)
    ready = json.loads((folder / "ready.json").read_text())
    postgres = PostgresServer(folder / "postgres", keys=keyring.Keys(**ready["keys"]))
    valkey = ValkeyServer(
        folder / "valkey", password=postgres.keys.valkey_password, port=ready["valkey_port"]
    )
    database = f"xqmj_{worker}{label and '_'}{label}"
    postgres.create_database(database, template=TEMPLATE)
    number = int(worker.removeprefix("gw")) + 1 if worker.startswith("gw") else 0
    return addresses(postgres, valkey, database, number)


def point_django_at(found: Servers) -> None:
    """Set in place what settings/test.py could not know: the addresses."""
    from django.conf import settings
    from django.db import connections

    from xqmj_site import environ
    from xqmj_site.celery import app

    settings.DATABASE_URL = found.app_url
    settings.DATABASE_OWNER_URL = found.owner_url
    settings.REDIS_URL = found.redis_url
    settings.BROKER_URL = settings.CELERY_BROKER_URL = found.broker_url
    app.conf.update(broker_url=found.broker_url)
    connections.close_all()
    database = environ.database(found.app_url, options=settings.SESSION_OPTIONS)
    connections.settings["default"].update(database)


@contextlib.contextmanager
def own_database(label: str, *, instead_of: Servers) -> Iterator[Servers]:
    """Let the tests inside have a database of their own.

    What they write there, nobody else comes upon; what others have written, neither do they.
    """
    from matches.eventstore import pool
    from matches.services import heartbeat

    def go_to(servers: Servers) -> None:
        heartbeat.stop()
        pool.close()
        point_django_at(servers)

    own = for_this_worker(label)
    go_to(own)
    yield own
    go_to(instead_of)


def _start_host(folder: Path, run_pid: int) -> None:
    with (folder / "host.log").open("wb") as log:
        host = subprocess.Popen(
            [sys.executable, "-m", "tests.support.servers", str(folder), str(run_pid)],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    (folder / "host.pid").write_text(str(host.pid))
    end = time.monotonic() + READY_TIMEOUT_S
    while not (folder / "ready.json").exists():
        if host.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"no test servers:\n{processes.tail(folder / 'host.log', 60)}")
        time.sleep(0.05)
    host.returncode = 0  # it outlives us on purpose: no warning that it still runs


def stop_host(folder: Path) -> None:
    """Stop the run's servers, if any were started, and remove everything they wrote."""
    pid = processes.read_pid(folder / "host.pid")
    if pid is not None and "tests.support.servers" in processes.command_line(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        processes.wait_gone(pid, timeout_s=30)
    shutil.rmtree(folder, ignore_errors=True)


# --- the host -------------------------------------------------------------------------------------


@contextlib.contextmanager
def running(
    folder: Path, *, settings: dict[str, str] | None = None
) -> Iterator[tuple[PostgresServer, ValkeyServer]]:
    """Run a fresh PostgreSQL and Valkey in `folder`; both are stopped at the end.

    `settings` are PostgreSQL's, beside those it always has here.
    """
    keys = keyring.generate()
    postgres = PostgresServer(folder / "postgres", keys=keys, settings=settings)
    valkey = ValkeyServer(folder / "valkey", password=keys.valkey_password)
    try:
        postgres.initialise(sync=False)
        postgres.start()
        valkey.start()
        yield postgres, valkey
    finally:
        valkey.stop()
        postgres.stop()
        postgres.remove()


def host(folder: Path, run_pid: int) -> None:
    """Serve until told to stop, or until the run is gone."""
    stopping: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _frame: stopping.append(number))
    with running(folder) as (postgres, valkey):
        migrate(postgres, TEMPLATE)
        ready = {"keys": postgres.keys._asdict(), "valkey_port": valkey.port}
        partial = folder / "ready.part"
        partial.touch(mode=0o600)
        partial.write_text(json.dumps(ready))
        partial.rename(folder / "ready.json")
        while not stopping and processes.alive(run_pid):
            time.sleep(0.1)
    if not stopping:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    host(Path(sys.argv[1]), int(sys.argv[2]))
