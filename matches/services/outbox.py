"""Things to tell others, sent from another thread: whoever puts one in never waits or fails."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from matches.services import metrics

LOG = logging.getLogger("xqmj.services")

STALE_S = 2.0
"""After this long a notice is of no use: who waited has looked for himself."""
REST_S = 0.2
"""Pause after a failure, so that a peer that is away costs no processor time."""

T = TypeVar("T")


class Outbox(Generic[T]):
    """A bounded queue and the daemon thread that empties it, started by the first `put`.

    What does not fit, and what waited too long, is dropped and counted; an error
    of `send` is counted and forgotten.
    """

    def __init__(self, name: str, send: Callable[[T], None], *, capacity: int = 1_000) -> None:
        self._name = name
        self._send = send
        self._queue: queue.Queue[tuple[float, T] | None] = queue.Queue(capacity)
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def put(self, item: T) -> None:
        """Have something sent soon, perhaps."""
        if self._thread is None:
            self._start()
        try:
            self._queue.put_nowait((time.monotonic(), item))
        except queue.Full:
            self._count("dropped")

    def close(self, *, timeout_s: float = 5.0) -> None:
        """Send what is in it, then stop; what is put in afterwards starts it again."""
        with self._starting:
            thread, self._thread = self._thread, None
        if thread is not None:
            try:
                self._queue.put(None, timeout=timeout_s)
            except queue.Full:
                return
            thread.join(timeout_s)

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name=f"xqmj-{self._name}", daemon=True
                )
                self._thread.start()

    def _run(self) -> None:
        while (waiting := self._queue.get()) is not None:
            put_s, item = waiting
            if time.monotonic() - put_s > STALE_S:
                self._count("dropped")
                continue
            try:
                self._send(item)
            except Exception as error:
                # Whatever it was: a hint is lost, nothing else.
                self._count("failed")
                LOG.debug("%s: %s was not sent", self._name, item, exc_info=error)
                time.sleep(REST_S)
            else:
                self._count("sent")

    def _count(self, result: str) -> None:
        metrics.OUTBOX.labels(self._name, result).inc()
