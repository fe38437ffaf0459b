"""A PostgreSQL server of our own: durable, private, and able to start under root."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import psycopg
from psycopg import sql

from xqmj_site.devstack import identity as identities
from xqmj_site.devstack import processes
from xqmj_site.devstack.binaries import postgres_bin
from xqmj_site.devstack.keyring import Keys
from xqmj_site.devstack.processes import ServerFailed

SUPERUSER = "postgres"
OLDEST_MAJOR = 15
SOCKET_PATH_LIMIT = 103
"""Bytes a socket's path may have on the strictest of our systems (macOS)."""
PORT = 5432
"""Only names the socket's file: no TCP port is opened."""

DURABLE = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
}
"""What makes an acknowledged event survive a crash. The start-up check refuses less."""
DISCREET = {
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
"""What keeps values out of the server's log: a statement that fails holds a hash or a name."""

HERE = Path(__file__).parent

SURVIVORS_S = 10.0
"""How long sessions may outlive a killed server: they end when they notice, which takes time."""
RETRY_S = 0.2


class PostgresServer:
    """One cluster in `folder`, reached through a socket that only its user may open.

    Started by root it runs as an unprivileged user (`identity`), with its files
    where that user can reach them. All roles log in by password.
    """

    def __init__(self, folder: Path, *, keys: Keys, settings: dict[str, str] | None = None) -> None:
        self.identity = identities.server_identity()
        self.keys = keys
        self.folder = identities.reachable_folder(folder.absolute(), self.identity)
        self.cluster = self.folder / "cluster"
        self.log = self.folder / "log"
        self.programs = identities.reachable_programs(
            postgres_bin(),
            self.identity,
            names=("postgres", "initdb"),
            into=self.folder / "programs",
        )
        self.settings = {**DURABLE, **DISCREET, **(settings or {})}
        self.child: subprocess.Popen[bytes] | None = None
        self.socket_dir = self._socket_dir()

    # --- addresses ---------------------------------------------------------------------------

    def url(self, role: str, database: str) -> str:
        """Return the libpq URL for `superuser`, `owner`, `app` or `auditor`."""
        user = SUPERUSER if role == "superuser" else f"xqmj_{role}"
        password = getattr(self.keys, f"{role}_password")
        host = quote(str(self.socket_dir), safe="")
        return f"postgresql://{user}:{quote(password)}@/{database}?host={host}&port={PORT}"

    def connect(self, database: str = "postgres") -> psycopg.Connection[tuple[Any, ...]]:
        """Open an autocommit connection as the superuser."""
        return psycopg.connect(self.url("superuser", database), autocommit=True, connect_timeout=5)

    # --- life --------------------------------------------------------------------------------

    def initialise(self, *, sync: bool = True) -> None:
        """Make the cluster if there is none; `sync=False` is for throw-away ones."""
        if (self.cluster / "PG_VERSION").exists():
            self._check_version()
            return
        password_file = self.folder / "password"
        password_file.touch(mode=0o600)
        if self.identity is not None:
            os.chown(password_file, self.identity.uid, self.identity.gid)
        password_file.write_text(self.keys.superuser_password)
        try:
            self._run_initdb(password_file, sync=sync)
        finally:
            password_file.unlink()

    def _run_initdb(self, password_file: Path, *, sync: bool) -> None:
        locale = ["--no-locale"]
        if self._program_major() >= 17:
            locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
        done = subprocess.run(
            [
                str(self.programs / "initdb"),
                f"--pgdata={self.cluster}",
                f"--username={SUPERUSER}",
                f"--pwfile={password_file}",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--data-checksums",
                *locale,
                *([] if sync else ["--no-sync"]),
            ],
            cwd=self.folder,
            env=self._environment(),
            capture_output=True,
            check=False,
            **identities.popen_arguments(self.identity),
        )
        if done.returncode != 0:
            raise ServerFailed(f"initdb failed:\n{done.stderr.decode(errors='replace')}")

    def start(self, *, output: IO[bytes] | int | None = None, timeout_s: float = 60) -> None:
        """Start the server and wait until it answers.

        A server that a killed run left behind is stopped first; the sessions of
        one that was killed are waited for. `output` takes the log in place of the
        file `log`.
        """
        self.stop()
        if self._names_a_stranger():
            self._pid_file.unlink()
        # Any other file that is left is PostgreSQL's to judge: it refuses to start beside sessions
        # that still hold the shared memory.
        give_up_s = time.monotonic() + (SURVIVORS_S if self._pid_file.exists() else 0.0)
        self._launch(output)
        while (refusal := self._refusal(timeout_s)) is not None:
            if time.monotonic() > give_up_s:
                raise self._failed(refusal) from refusal
            time.sleep(RETRY_S)
            self._launch(output)

    def _names_a_stranger(self) -> bool:
        """Whether the pid file names a process that runs and is not ours.

        PostgreSQL would take it for a server and refuse to start.
        """
        pid = processes.read_pid(self._pid_file)
        if pid is None or not processes.alive(pid):
            return False
        return str(self.cluster) not in processes.command_line(pid)

    def _launch(self, output: IO[bytes] | int | None) -> None:
        command = [str(self.programs / "postgres"), "-D", str(self.cluster)]
        for name, value in self._all_settings().items():
            command += ["-c", f"{name}={value}"]
        with self.log.open("ab") as log:
            self.child = subprocess.Popen(
                command,
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=output or log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                **identities.popen_arguments(self.identity),
            )

    def _refusal(self, timeout_s: float) -> psycopg.OperationalError | None:
        """Wait until the server answers; the error where it ended instead of answering."""
        end = time.monotonic() + timeout_s
        while True:
            try:
                self.connect().close()
            except psycopg.OperationalError as error:
                if self.child is not None and self.child.poll() is not None:
                    return error
                if time.monotonic() > end:
                    raise self._failed(error) from error
                time.sleep(processes.POLL_S)
            else:
                return None

    def _failed(self, error: Exception) -> ServerFailed:
        return ServerFailed(f"PostgreSQL did not start: {error}\n{processes.tail(self.log)}")

    def pid(self) -> int | None:
        """Return the running server's process id, or None."""
        if self.child is not None:
            return self.child.pid if self.child.poll() is None else None
        pid = processes.read_pid(self._pid_file)
        if pid is None or not processes.alive(pid):
            return None
        return pid if str(self.cluster) in processes.command_line(pid) else None

    @property
    def _pid_file(self) -> Path:
        return self.cluster / "postmaster.pid"

    def stop(self, *, timeout_s: float = 30) -> None:
        """End every session and stop (a fast shutdown); no effect when none runs."""
        self._signal(signal.SIGINT, timeout_s=timeout_s)

    def kill(self) -> None:
        """Kill the server as a power cut would: no session ends in order, no file is closed."""
        self._signal(signal.SIGKILL, timeout_s=10)

    def remove(self) -> None:
        """Remove every file of a stopped server: for throw-away ones."""
        for folder in {self.socket_dir, self.folder}:
            shutil.rmtree(folder, ignore_errors=True)

    def _signal(self, number: signal.Signals, *, timeout_s: float) -> None:
        pid = self.pid()
        if pid is None:
            return
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
        if not processes.wait_gone(pid, timeout_s=timeout_s, child=self.child):
            raise ServerFailed(f"PostgreSQL (process {pid}) does not stop.")

    # --- what stands in it -------------------------------------------------------------------

    def create_roles(self) -> None:
        """Create owner, app and auditor, or give them the keyring's passwords again."""
        with self.connect() as connection:
            for role in ("owner", "app", "auditor"):
                connection.execute(
                    "SELECT set_config(%s, %s, false)",
                    (f"xqmj.{role}_password", getattr(self.keys, f"{role}_password")),
                )
            connection.execute((HERE / "roles.sql").read_bytes())

    def create_database(self, name: str, *, template: str | None = None) -> None:
        """Create a database of the owner's with our rights in it, unless it exists.

        `template` names a database to clone; nobody may be connected to it.
        """
        with self.connect() as connection:
            if connection.execute(
                "SELECT 1 FROM pg_database WHERE datname = %s", (name,)
            ).fetchone():
                return
            statement = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
            if template:
                statement += sql.SQL(" TEMPLATE {}").format(sql.Identifier(template))
            connection.execute(statement)
        with self.connect(name) as connection:
            connection.execute((HERE / "database.sql").read_bytes())
            if self._has_statements():
                connection.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")

    # --- details -----------------------------------------------------------------------------

    def _all_settings(self) -> dict[str, str]:
        settings = {
            "listen_addresses": "",
            "port": str(PORT),
            "unix_socket_directories": str(self.socket_dir),
            "unix_socket_permissions": "0700",
            "max_connections": "120",
            "timezone": "UTC",
            "log_line_prefix": "%m [%p] %u@%d ",
            "log_checkpoints": "off",
            **self.settings,
        }
        if self._has_statements():
            settings.setdefault("shared_preload_libraries", "pg_stat_statements")
        return settings

    def _has_statements(self) -> bool:
        """Tell whether pg_stat_statements came with the server; the bench counts trips by it."""
        library = self.programs.parent / "lib"
        return any(library.rglob("pg_stat_statements.*"))

    def _socket_dir(self) -> Path:
        folder = self.folder / "run"
        if len(os.fsencode(folder / f".s.PGSQL.{PORT}")) > SOCKET_PATH_LIMIT:
            # The clone's path is too long for a socket: /tmp is short everywhere.
            folder = Path(tempfile.mkdtemp(prefix="xqmj-", dir="/tmp"))
        identities.own(folder, self.identity)
        return folder

    def _environment(self) -> dict[str, str]:
        """Return an environment without anything that would redirect the server."""
        return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}

    def _program_major(self) -> int:
        version = subprocess.run(
            [str(self.programs / "postgres"), "--version"],
            cwd="/",
            capture_output=True,
            check=True,
            text=True,
            **identities.popen_arguments(self.identity),
        ).stdout
        found = re.search(r"\d+", version)
        major = int(found.group()) if found else 0
        if major < OLDEST_MAJOR:
            raise ServerFailed(f"PostgreSQL {OLDEST_MAJOR} or later is needed, not {version}")
        return major

    def _check_version(self) -> None:
        theirs = int((self.cluster / "PG_VERSION").read_text())
        ours = self._program_major()
        if theirs != ours:
            raise ServerFailed(
                f"{self.cluster} was made by PostgreSQL {theirs}, and {self.programs} is "
                f"PostgreSQL {ours}. Dump it with the old one and load it with the new one, or "
                "move the folder away to begin anew."
            )
