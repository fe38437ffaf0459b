"""Small questions about processes and ports that more than one server asks."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path

POLL_S = 0.05


class ServerFailed(Exception):
    """A server did not start or stop; the message holds the end of its log."""


def alive(pid: int) -> bool:
    """Tell whether a process runs; a zombie of ours is reaped and counts as gone."""
    try:
        if os.waitpid(pid, os.WNOHANG)[0] == pid:
            return False
    except ChildProcessError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def wait_gone(pid: int, *, timeout_s: float, child: subprocess.Popen[bytes] | None = None) -> bool:
    """Wait until the process has ended; False when it still runs after `timeout_s`."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if child is not None and child.pid == pid:
            if child.poll() is not None:
                return True
        elif not alive(pid):
            return True
        time.sleep(POLL_S)
    return False


def read_pid(path: Path) -> int | None:
    """Return the number on the first line of a pid file, or None."""
    try:
        return int(path.read_text().split("\n", 1)[0])
    except (FileNotFoundError, PermissionError, ValueError):
        return None


def command_line(pid: int) -> str:
    """Return what a process was started as, or an empty string.

    A pid file may outlive its process, and the number may be somebody else's by
    now: nothing is signalled before this has been looked at.
    """
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
        return raw.replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        pass
    try:
        return subprocess.run(
            ["ps", "-p", str(pid), "-o", "command="],  # noqa: S607 - ps stands elsewhere on each system
            capture_output=True,
            check=False,
            text=True,
        ).stdout
    except FileNotFoundError:
        return ""


def group_lines(leader: int) -> list[str]:
    """Return what the processes of a group were started as, its leader being alive or not."""
    try:
        listed = subprocess.run(
            ["ps", "-A", "-o", "pgid=,command="],  # noqa: S607 - see above
            capture_output=True,
            check=False,
            text=True,
        ).stdout
    except FileNotFoundError:
        # A machine so slim that it has no ps has /proc.
        line = command_line(leader)
        return [line] if line else []
    rows = (row.strip().partition(" ") for row in listed.splitlines())
    return [line.strip() for group, _, line in rows if group == str(leader)]


def tail(path: Path, lines: int = 20) -> str:
    """Return the end of a log, or an empty string."""
    try:
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""


def free_port() -> int:
    """Return a loopback port that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def port_taken(host: str, port: int) -> bool:
    """Tell whether a server could not listen there."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return True
    return False
