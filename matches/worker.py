"""The part of the Celery worker that needs no message: it sweeps by a loop of its own.

With the broker dead, tables still draw and flags still fall (docs/adr/0009).
"""

from __future__ import annotations

import heapq
import logging
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from celery import bootsteps
from django.conf import settings

from matches.eventstore import pool
from matches.eventstore.pool import Unavailable
from matches.services import execute
from matches.services.sweep import BATCH, Swept
from matches.services.sweep import Sweeper as MatchSweeper

LOG = logging.getLogger("xqmj.services")

EVERY_S = 0.1
"""A table acts at most about this late."""
AFTER_FAULT_S = 0.5
STOP_TIMEOUT_S = 10.0

_sweeping = threading.Lock()
"""Held while a sweep runs, and by whoever forks: a child is born with no lock held by a thread
that it does not have."""


class SweepLoop:
    """Calls `settle_due` every 100 ms, or sooner where a table is known to act sooner."""

    def __init__(
        self, settle_due: Callable[[], Swept], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settle_due = settle_due
        self._clock = clock
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="xqmj-sweeper", daemon=True)
        self._known_dues_ms: list[int] = []

    def start(self) -> None:
        """Begin to sweep."""
        self._thread.start()

    def stop(self) -> None:
        """Sweep no more; returns when the sweep under way has ended."""
        self._stop.set()
        self._thread.join(STOP_TIMEOUT_S)

    def _run(self) -> None:
        wait_s = 0.0
        while not self._stop.wait(wait_s):
            wait_s = self.once()

    def once(self) -> float:
        """Sweep once; returns how long to wait until the next time."""
        begun_s = self._clock()
        try:
            with _sweeping:
                swept = self._settle_due()
        except Unavailable as error:
            LOG.warning("the log is away, nothing is swept: %s", error)
            return AFTER_FAULT_S
        except Exception:
            LOG.exception("a sweep failed")
            return AFTER_FAULT_S
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


class Sweeper(bootsteps.StartStopStep):
    """Celery's worker starts and stops the sweep with itself.

    It comes after the pool, whose processes are forked before there is a thread
    or a connection, and before the consumer, which waits for the broker.
    """

    requires = ("celery.worker.components:Pool",)

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self._loop: SweepLoop | None = None
        self._threads: ThreadPoolExecutor | None = None

    def start(self, parent: Any) -> None:  # noqa: ARG002 - Celery's signature
        """Sweep from now on."""
        _guard_forks()
        self._threads = ThreadPoolExecutor(settings.XQMJ_SWEEP_THREADS, "xqmj-settle")
        sweeper = MatchSweeper(execute.engine(), mapper=self._threads.map)
        self._loop = SweepLoop(sweeper.settle_due)
        self._loop.start()

    def stop(self, parent: Any) -> None:  # noqa: ARG002
        """End with the sweep under way."""
        if self._loop is not None and self._threads is not None:
            self._loop.stop()
            self._threads.shutdown()
            pool.close()
            self._loop = self._threads = None

    def terminate(self, parent: Any) -> None:
        """The same, in a hurry: a sweep is short."""
        self.stop(parent)


_guarded: list[int] = []


def _guard_forks() -> None:
    """Let no child be forked while a sweep runs: once a process, it cannot be undone."""
    if os.getpid() not in _guarded:
        _guarded.append(os.getpid())
        os.register_at_fork(
            before=_sweeping.acquire,
            after_in_parent=_sweeping.release,
            after_in_child=_sweeping.release,
        )
