"""The part of the Celery worker that needs no message: loops that sweep, play, and pair.

With the broker dead, tables still draw, flags still fall (docs/adr/0009), and
the computer still plays (docs/adr/0016), and players are still paired.
"""

from __future__ import annotations

import heapq
import logging
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from celery import bootsteps
from django.conf import settings
from django.db import OperationalError, connections

from matches.bots.expectation import warm
from matches.eventstore import pool
from matches.eventstore.pool import Unavailable
from matches.services import execute, offers, pairing
from matches.services.computer import BATCH as TURNS_AT_ONCE
from matches.services.computer import Computer
from matches.services.errors import ServiceError
from matches.services.sweep import BATCH, Swept
from matches.services.sweep import Sweeper as MatchSweeper

LOG = logging.getLogger("xqmj.services")

EVERY_S = 0.1
"""A table, or the computer, acts at most about this late."""
LOBBY_EVERY_S = 1.0
"""How often those who wait are looked at: their windows widen meanwhile."""
HEAL_EVERY_S = 5.0
"""How long a reminder of the computer's turn can be lost."""
AFTER_FAULT_S = 0.5
STOP_TIMEOUT_S = 10.0

Clock = Callable[[], float]


class Loop(ABC):
    """Does something again and again, in a thread of its own."""

    def __init__(self, name: str, lock: threading.Lock) -> None:
        self._lock = lock
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @abstractmethod
    def work(self) -> float:
        """Do it once; returns how long to wait until the next time, in seconds."""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Do it no more; returns when the time under way has ended."""
        self._stop.set()
        self._thread.join(STOP_TIMEOUT_S)

    def once(self) -> float:
        """Do it once, whatever goes wrong; returns how long to wait until the next time."""
        try:
            with self._lock:
                return self.work()
        except Unavailable as error:
            LOG.warning("the log is away, nothing is done here: %s", error)
        except Exception:
            LOG.exception("a loop failed", extra={"loop": self._thread.name})
        return AFTER_FAULT_S

    def _run(self) -> None:
        wait_s = 0.0
        while not self._stop.wait(wait_s):
            wait_s = self.once()


class SweepLoop(Loop):
    """Calls `settle_due` every 100 ms, or sooner where a table is known to act sooner."""

    def __init__(self, settle_due: Callable[[], Swept], *, clock: Clock = time.monotonic) -> None:
        super().__init__("xqmj-sweeper", _sweeping)
        self._settle_due = settle_due
        self._clock = clock
        self._known_dues_ms: list[int] = []

    def work(self) -> float:
        """Sweep once."""
        begun_s = self._clock()
        swept = self._settle_due()
        if swept.settled + swept.failed >= BATCH:
            return 0.0
        return self._until_next(swept, self._clock() - begun_s)

    def _until_next(self, swept: Swept, spent_s: float) -> float:
        known, now_ms = self._known_dues_ms, swept.now_ms + round(spent_s * 1000)
        for due_ms in swept.next_dues_ms:
            if due_ms <= now_ms + 60_000:
                heapq.heappush(known, due_ms)
        while known and known[0] <= swept.now_ms:
            heapq.heappop(known)
        if not known:
            return EVERY_S
        return min(EVERY_S, max(0.0, (known[0] - now_ms) / 1000))


class ComputerLoop(Loop):
    """Plays the computer's turns that are due, looking as often as the sweep does."""

    def __init__(self, computer: Computer, *, clock: Clock = time.monotonic) -> None:
        super().__init__("xqmj-computer", _playing)
        self._computer = computer
        self._clock = clock
        self._heal_at_s = clock()

    def work(self) -> float:
        """Play once; every few seconds look for reminders that were lost."""
        begun_s = self._clock()
        if begun_s >= self._heal_at_s:
            self._heal_at_s = begun_s + HEAL_EVERY_S
            self._computer.heal()
        played = self._computer.play_due()
        if played.taken >= TURNS_AT_ONCE:
            return 0.0
        if played.next_due_ms is None:
            return EVERY_S
        left_s = (played.next_due_ms - played.now_ms) / 1000 - (self._clock() - begun_s)
        return min(EVERY_S, max(0.0, left_s))


class LobbyLoop(Loop):
    """Pairs who waits, and finishes what was left between two players and their match."""

    def __init__(self) -> None:
        super().__init__("xqmj-lobby", _pairing)

    def work(self) -> float:
        """Look once, by a connection of Django's that no fork ever meets."""
        try:
            pairing.tend()
            offers.tend()
        except (OperationalError, ServiceError) as error:
            raise Unavailable(str(error)) from error
        finally:
            connections.close_all()
        return LOBBY_EVERY_S


_sweeping, _playing, _pairing = threading.Lock(), threading.Lock(), threading.Lock()
"""Held while a loop works, and by whoever forks: a child is born with no lock held by a thread
that it does not have."""


class Loops(bootsteps.StartStopStep):
    """Celery's worker starts and stops the sweep, the computer and the lobby with itself.

    It comes after the pool, whose processes are forked before there is a thread
    or a connection, and before the consumer, which waits for the broker.
    """

    requires = ("celery.worker.components:Pool",)

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self._loops: tuple[Loop, ...] = ()
        self._threads: ThreadPoolExecutor | None = None

    def start(self, parent: Any) -> None:  # noqa: ARG002 - Celery's signature
        """Sweep, play and pair from now on."""
        _guard_forks()
        warm()
        self._threads = ThreadPoolExecutor(settings.XQMJ_SWEEP_THREADS, "xqmj-settle")
        sweeper = MatchSweeper(execute.engine(), mapper=self._threads.map)
        computer = Computer(execute.engine(), mapper=self._threads.map)
        self._loops = (SweepLoop(sweeper.settle_due), ComputerLoop(computer), LobbyLoop())
        for loop in self._loops:
            loop.start()

    def stop(self, parent: Any) -> None:  # noqa: ARG002
        """End with what is under way."""
        if self._threads is not None:
            for loop in self._loops:
                loop.stop()
            self._threads.shutdown()
            pool.close()
            self._loops, self._threads = (), None

    def terminate(self, parent: Any) -> None:
        """The same, in a hurry: it is short."""
        self.stop(parent)


_guarded: list[int] = []


def _guard_forks() -> None:
    """Let no child be forked while a loop works: once a process, it cannot be undone."""
    if os.getpid() not in _guarded:
        _guarded.append(os.getpid())
        for lock in (_sweeping, _playing, _pairing):
            os.register_at_fork(
                before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
            )
