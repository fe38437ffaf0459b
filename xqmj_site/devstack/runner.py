"""Run several processes as one: their lines under their names, their deaths mended, one stop.

Each process leads a session of its own, so that Ctrl-C reaches only the runner
and the runner reaches every grandchild. A runner that was killed leaves a list
of its processes behind; the next one ends them first.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Protocol

from xqmj_site.devstack import processes
from xqmj_site.devstack.console import Console

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 10.0
STEADY_S = 20.0
"""A process that ran so long is trusted again: its next death waits only `FIRST_WAIT_S`."""

STOP_TIMEOUT_S = 15.0
LIST_NAME = "processes.json"


class Program(Protocol):
    """Something that can be started and stopped, such as a process or a server."""

    name: str

    def start(self, output: IO[bytes]) -> subprocess.Popen[bytes]:
        """Start it, writing to `output`, and return its process once it serves."""

    def stop(self) -> None:
        """Stop it and everything it started; no effect when it does not run."""


class Process:
    """A program that is one command line."""

    def __init__(
        self, name: str, command: Sequence[str], *, environment: dict[str, str], folder: Path
    ) -> None:
        self.name = name
        self.command = list(command)
        self.environment = environment
        self.folder = folder
        self.child: subprocess.Popen[bytes] | None = None

    def start(self, output: IO[bytes]) -> subprocess.Popen[bytes]:
        """Start the command as the leader of a session of its own."""
        self.child = subprocess.Popen(
            self.command,
            cwd=self.folder,
            env={**os.environ, **self.environment, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        return self.child

    def stop(self) -> None:
        """Ask it to end, wait, then end whatever is left of its session."""
        if self.child is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self.child.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.child.wait(STOP_TIMEOUT_S)
        end_group(self.child.pid)
        self.child.wait()


def end_group(pid: int) -> None:
    """Kill every process of the group that `pid` leads or led."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


class Supervised:
    """One program with the thread that keeps it running."""

    def __init__(self, program: Program, *, runner: Runner, foundation: bool) -> None:
        self.program = program
        self.runner = runner
        self.foundation = foundation
        self.up = threading.Event()
        self.thread = threading.Thread(target=self._keep, name=f"keep-{program.name}", daemon=True)

    def _keep(self) -> None:
        wait_s = FIRST_WAIT_S
        while not self.runner.stopping.is_set():
            began = time.monotonic()
            outcome = self._run_once()
            self.up.clear()
            if self.runner.stopping.is_set():
                return
            if time.monotonic() - began > STEADY_S:
                wait_s = FIRST_WAIT_S
            self.runner.console.say(self.program.name, f"{outcome}; starting again in {wait_s:g} s")
            self.runner.stopping.wait(wait_s)
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)

    def _run_once(self) -> str:
        """Run the program to its end and say how it ended."""
        reader, writer = os.pipe()
        printing = threading.Thread(target=self._print, args=(reader,), daemon=True)
        printing.start()
        try:
            with os.fdopen(writer, "wb") as output:
                child = self.program.start(output)
        except (OSError, processes.ServerFailed) as error:
            return str(error)
        if not self.foundation:
            # A server finds and ends its own predecessor, by the file it keeps itself.
            self.runner.note(self.program.name, child)
        if self.runner.stopping.is_set():
            self.program.stop()
        self.up.set()
        code = child.wait()
        # Grandchildren hold the port of a leader that was killed.
        end_group(child.pid)
        printing.join(timeout=2)
        return f"ended by signal {-code}" if code < 0 else f"ended with code {code}"

    def _print(self, reader: int) -> None:
        # Ours to close: whoever still holds the other end must not keep a restart waiting.
        with os.fdopen(reader, "rb") as lines:
            self.runner.console.copy(self.program.name, lines)


class Runner:
    """Keeps programs running until it is told to stop, then stops them in order."""

    def __init__(self, console: Console, *, folder: Path) -> None:
        self.console = console
        self.stopping = threading.Event()
        self._list = folder / LIST_NAME
        self._noted: dict[str, int] = {}
        self._noting = threading.Lock()
        self._supervised: list[Supervised] = []
        self._end_left_behind()

    def add(self, program: Program) -> None:
        """Start keeping a program."""
        kept = Supervised(program, runner=self, foundation=False)
        self._supervised.append(kept)
        kept.thread.start()

    def add_foundation(self, program: Program, *, wait_s: float) -> None:
        """Start keeping what the others stand on, such as a database, and wait until it is up.

        Raises `ServerFailed` when it is not up by then.
        """
        kept = Supervised(program, runner=self, foundation=True)
        self._supervised.append(kept)
        kept.thread.start()
        if not self._wait(kept.up, wait_s):
            raise processes.ServerFailed(f"{program.name} did not start.")

    def _wait(self, up: threading.Event, wait_s: float) -> bool:
        end = time.monotonic() + wait_s
        while time.monotonic() < end and not self.stopping.is_set():
            if up.wait(0.1):
                return True
        return False

    def note(self, name: str, child: subprocess.Popen[bytes]) -> None:
        """Remember a started process on disk, for a runner that comes after a killed one."""
        with self._noting:
            self._noted[name] = child.pid
            self._list.touch(mode=0o600)
            self._list.write_text(json.dumps(self._noted))

    def _end_left_behind(self) -> None:
        try:
            left = json.loads(self._list.read_text())
        except (FileNotFoundError, ValueError):
            return
        for name, leader in left.items():
            # The numbers may be somebody else's by now: ours come from this environment.
            if any(sys.prefix in line for line in processes.group_lines(leader)):
                self.console.say("up", f"ending {name}, left behind by a run that was killed")
                end_group(leader)
                processes.wait_gone(leader, timeout_s=STOP_TIMEOUT_S)
        self._list.unlink(missing_ok=True)

    def stop(self) -> None:
        """Stop everything: our processes at once, then what they stand on, the last first."""
        self.stopping.set()
        ours = [kept for kept in self._supervised if not kept.foundation]
        with ThreadPoolExecutor(max_workers=len(ours) or 1) as stopping:
            list(stopping.map(self._stop_one, ours))
        for kept in reversed(self._supervised):
            if kept.foundation:
                self._stop_one(kept)
        self._list.unlink(missing_ok=True)

    def _stop_one(self, kept: Supervised) -> None:
        try:
            kept.program.stop()
        except processes.ServerFailed as error:
            self.console.say(kept.program.name, str(error))
        kept.thread.join(timeout=5)


@contextlib.contextmanager
def stopped_by_signals(stopping: threading.Event) -> Iterator[None]:
    """Set the event at the first SIGINT, SIGTERM or SIGHUP; the next one ends us at once."""

    def stop(number: int, _frame: object) -> None:
        if stopping.is_set():
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        stopping.set()

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [(number, signal.signal(number, stop)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
