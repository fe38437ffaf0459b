"""A Valkey server of our own: loopback only, with a password, keeping nothing on disk."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import IO

import redis

from xqmj_site.devstack import processes
from xqmj_site.devstack.binaries import valkey_server
from xqmj_site.devstack.processes import ServerFailed

DATABASES = 64
"""Numbered databases: tests give every worker its own."""


class ValkeyServer:
    """One loopback server for hints, throttles and queues: losing them is planned for."""

    def __init__(self, folder: Path, *, password: str, port: int | None = None) -> None:
        self.folder = folder.absolute()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.password = password
        self.port = port or processes.free_port()
        self.log = self.folder / "log"
        self.child: subprocess.Popen[bytes] | None = None

    def url(self, database: int = 0) -> str:
        """Return the address of one numbered database."""
        return f"redis://:{self.password}@127.0.0.1:{self.port}/{database}"

    def start(self, *, output: IO[bytes] | int | None = None, timeout_s: float = 20) -> None:
        """Start the server and wait until it answers; one left behind is stopped first."""
        self.stop()
        config = self.folder / "valkey.conf"
        config.touch(mode=0o600)
        config.write_text("\n".join(self._settings()) + "\n")
        with self.log.open("ab") as log:
            self.child = subprocess.Popen(
                [str(valkey_server()), str(config)],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output or log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._wait_ready(timeout_s)

    def _settings(self) -> list[str]:
        return [
            "bind 127.0.0.1",
            f"port {self.port}",
            f"requirepass {self.password}",
            f'dir "{self.folder}"',
            f'pidfile "{self._pid_file}"',
            f"databases {DATABASES}",
            'save ""',
            "appendonly no",
            "maxmemory-policy noeviction",
            "daemonize no",
            "loglevel warning",
        ]

    def _wait_ready(self, timeout_s: float) -> None:
        end = time.monotonic() + timeout_s
        while True:
            client = redis.Redis.from_url(self.url(), socket_connect_timeout=1, socket_timeout=1)
            try:
                client.ping()
            except redis.RedisError as error:
                gone = self.child is not None and self.child.poll() is not None
                if gone or time.monotonic() > end:
                    raise ServerFailed(
                        f"Valkey did not start: {error}\n{processes.tail(self.log)}"
                    ) from error
                time.sleep(processes.POLL_S)
            else:
                return
            finally:
                client.close()

    @property
    def _pid_file(self) -> Path:
        return self.folder / "valkey.pid"

    def pid(self) -> int | None:
        """Return the running server's process id, or None."""
        if self.child is not None:
            return self.child.pid if self.child.poll() is None else None
        pid = processes.read_pid(self._pid_file)
        if pid is None or not processes.alive(pid):
            return None
        return pid if f":{self.port}" in processes.command_line(pid) else None

    def stop(self) -> None:
        """Stop in order; no effect when none runs."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the server as a power cut would."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        pid = self.pid()
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
            if not processes.wait_gone(pid, timeout_s=10, child=self.child):
                raise ServerFailed(f"Valkey (process {pid}) does not stop.")
        self._pid_file.unlink(missing_ok=True)
