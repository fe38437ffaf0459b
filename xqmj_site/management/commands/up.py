"""`manage.py up`: everything of xqmj on this machine, under one roof."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO, Any

from django.core.management.base import BaseCommand, CommandError

from xqmj_site import roles
from xqmj_site.devstack import environment, processes
from xqmj_site.devstack.binaries import MissingProgram
from xqmj_site.devstack.console import Console
from xqmj_site.devstack.postgres import PostgresServer
from xqmj_site.devstack.runner import Process, Runner, stopped_by_signals
from xqmj_site.devstack.stack import Stack
from xqmj_site.devstack.valkey import ValkeyServer

SERVER_TIMEOUT_S = 90
WEB_TIMEOUT_S = 60

COUNTING = ("web", "live", "worker")
"""Roles with something to show to Prometheus."""
FIRST_METRICS_PORT = 9464

BANNER = """
xqmj serves {url}
  API docs   {url}/api/v1/docs
  streams    {live_url}
  metrics    {metrics}
  a first    curl -s {url}/api/v1/rulesets
  a match    make demo            (in another terminal)
  stop       Ctrl-C               (matches and keys stay in {data})
"""


class Server:
    """An embedded server as a program of the runner."""

    def __init__(self, name: str, server: PostgresServer | ValkeyServer) -> None:
        self.name = name
        self.server = server

    def start(self, output: IO[bytes]) -> subprocess.Popen[bytes]:
        """Start it and wait until it answers."""
        self.server.start(output=output)
        assert self.server.child is not None
        return self.server.child

    def stop(self) -> None:
        """Stop it in order: what it acknowledged is on disk."""
        self.server.stop()


class Command(BaseCommand):
    """Serve xqmj on this machine until Ctrl-C."""

    help = "Serve xqmj on this machine: PostgreSQL, Valkey, web, live, worker and beat."
    requires_system_checks: list[str] = []  # noqa: RUF012 - Django's own way to say: none yet

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Start everything in order, say where it is, and wait for the signal to stop."""
        folder = environment.data_dir()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        host = os.environ.setdefault("HOST", "127.0.0.1")
        os.environ.setdefault("XQMJ_LOG_FORMAT", "text")
        # Somebody who starts a development machine as root knows that the worker runs as root.
        os.environ.setdefault("PYTHONWARNINGS", "ignore:You're running the worker")
        console = Console(sys.stdout)
        with (folder / "lock").open("w") as lock:
            refuse_second_run(lock, folder)
            runner = Runner(console, folder=folder)
            refuse_taken_port(host, "PORT", 8000)
            refuse_taken_port(host, "LIVE_PORT", 8001)
            refuse_taken_metrics_ports()
            with stopped_by_signals(runner.stopping):
                try:
                    serve(runner, folder=folder, host=host)
                    runner.stopping.wait()
                except (MissingProgram, LookupError, ValueError, processes.ServerFailed) as error:
                    if not runner.stopping.is_set():
                        raise CommandError(str(error)) from error
                finally:
                    console.say("up", "stopping")
                    runner.stop()
                    console.say("up", "stopped")


def refuse_taken_port(host: str, name: str, default: int) -> None:
    """Refuse a port that somebody listens on, naming the setting that moves it."""
    text = os.environ.get(name) or str(default)
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise CommandError(f"{name} must be a port number, not {text!r}.")
    os.environ[name] = text
    if processes.port_taken(host, int(text)):
        raise CommandError(
            f"Port {text} on {host} is taken. Set {name} to another one: make up {name}=…"
        )


def metrics_ports() -> dict[str, int]:
    """Return where each role shows its metrics: at `XQMJ_METRICS_PORT` and the next; 0: nowhere."""
    text = os.environ.get("XQMJ_METRICS_PORT") or str(FIRST_METRICS_PORT)
    if not text.isdigit() or int(text) + len(COUNTING) > 65536:
        raise CommandError(f"XQMJ_METRICS_PORT must be a port number or 0, not {text!r}.")
    return {role: int(text) + n for n, role in enumerate(COUNTING)} if int(text) else {}


def refuse_taken_metrics_ports() -> None:
    """Refuse where somebody listens on one of them."""
    for port in metrics_ports().values():
        if processes.port_taken("127.0.0.1", port):
            raise CommandError(
                f"Port {port} on 127.0.0.1 is taken. Set XQMJ_METRICS_PORT to the first of "
                "three free ones, or to 0: make up XQMJ_METRICS_PORT=…"
            )


def refuse_second_run(lock: IO[str], folder: Path) -> None:
    """Take the clone's lock, or say that another run has it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CommandError(
            f"`make up` already runs with the data in {folder}. Stop it first, "
            "or set XQMJ_DATA_DIR to another folder."
        ) from None


def serve(runner: Runner, *, folder: Path, host: str) -> None:
    """Start the servers, migrate, start our processes, and print where they are."""
    stack = Stack(folder)
    if stack.postgres is not None:
        stack.postgres.initialise()
        runner.add_foundation(Server("postgres", stack.postgres), wait_s=SERVER_TIMEOUT_S)
    if stack.valkey is not None:
        runner.add_foundation(Server("valkey", stack.valkey), wait_s=SERVER_TIMEOUT_S)
    stack.prepare()
    values = {**stack.environment(), **addresses(host), "XQMJ_RUN_DIR": str(folder)}
    environment.write(values, folder=folder)
    run_once(runner, ["migrate", "--no-input"], values)
    if stack.postgres is None:
        # A server of somebody else's: say what is wrong with it before four processes do.
        run_once(runner, ["check", "--database", "default"], values)
    ports = metrics_ports()
    for name in ("web", "live", "worker", "beat"):
        own = {**values, "XQMJ_METRICS_PORT": str(ports.get(name, 0))}
        own.update(roles.variables(name, own))
        command = roles.ROLES[name]({**os.environ, **own})
        runner.add(Process(name, command, environment=own, folder=environment.ROOT))
    if wait_for_web(runner, values["XQMJ_URL"]):
        for line in BANNER.format(
            url=values["XQMJ_URL"],
            live_url=values["XQMJ_LIVE_URL"],
            metrics=", ".join(f"127.0.0.1:{port}" for port in ports.values()) or "off",
            data=folder,
        ).splitlines():
            runner.console.say("up", line)


def addresses(host: str) -> dict[str, str]:
    """Return where clients on this machine find the API and the streams."""
    name = "127.0.0.1" if host == "0.0.0.0" else host  # noqa: S104 - compared, not bound
    name = f"[{name}]" if ":" in name else name
    url = f"http://{name}:{os.environ['PORT']}"
    return {
        "XQMJ_URL": url,
        "XQMJ_LIVE_URL": f"http://{name}:{os.environ['LIVE_PORT']}",
        "XQMJ_LIVE_ORIGINS": url,
    }


def run_once(runner: Runner, arguments: list[str], values: dict[str, str]) -> None:
    """Run a `manage.py` command to its end, its lines under its name.

    Raises `ServerFailed` when it fails.
    """
    with subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=environment.ROOT,
        env={**os.environ, **values, "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as child:
        assert child.stdout is not None
        runner.console.copy(arguments[0], child.stdout)
    if child.returncode != 0:
        raise processes.ServerFailed(f"`manage.py {' '.join(arguments)}` failed: see above.")


def wait_for_web(runner: Runner, url: str) -> bool:
    """Wait until the web role answers anything at all."""
    end = time.monotonic() + WEB_TIMEOUT_S
    while time.monotonic() < end and not runner.stopping.is_set():
        try:
            urllib.request.urlopen(url, timeout=5).close()  # noqa: S310 - our own address
        except urllib.error.HTTPError:
            return True
        except OSError:
            runner.stopping.wait(0.2)
        else:
            return True
    if not runner.stopping.is_set():
        runner.console.say("up", f"{url} does not answer yet: the lines above may say why")
    return False
