"""Things to tell others, sent from another thread: whoever puts one in never waits or fails."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from matches.services import metrics

LOG = logging.getLogger("xqmj.services")

STALE_S = 2.0
"""After this long a notice is of no use: who waited has looked for himself."""
LINGER_S = 0.02
"""Whoever waits elsewhere is told this much later; whoever waits here is told at once."""
MOST_AT_ONCE = 500
REST_S = 0.2
"""Pause after a failure, so that a peer that is away costs no processor time."""

T = TypeVar("T")


class Outbox(Generic[T]):
    """A bounded queue and the daemon thread that empties it, started by the first `put`.

    `send` gets what has come together within `linger_s`: one call of a network
    client costs as much processor time as a whole move. What does not fit, and
    what waited too long, is dropped and counted; an error of `send` is counted
    and forgotten.
    """

    def __init__(
        self,
        name: str,
        send: Callable[[Sequence[T]], None],
        *,
        capacity: int = 1_000,
        linger_s: float = LINGER_S,
        most_at_once: int = MOST_AT_ONCE,
        stale_s: float = STALE_S,
    ) -> None:
        self._name = name
        self._send = send
        self._queue: queue.SimpleQueue[tuple[float, T] | None] = queue.SimpleQueue()
        self._capacity = capacity
        self._linger_s = linger_s
        self._most_at_once = most_at_once
        self._stale_s = stale_s
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def put(self, item: T) -> None:
        """Have something sent soon, perhaps."""
        if self._thread is None:
            self._start()
        if self._queue.qsize() >= self._capacity:
            self._count("dropped", 1)
        else:
            self._queue.put((time.monotonic(), item))

    def close(self, *, timeout_s: float = 5.0) -> None:
        """Send what is in it, then stop; what is put in afterwards starts it again."""
        with self._starting:
            thread, self._thread = self._thread, None
        if thread is not None:
            self._queue.put(None)
            thread.join(timeout_s)

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name=f"xqmj-{self._name}", daemon=True
                )
                self._thread.start()

    def _run(self) -> None:
        open_ = True
        while open_:
            batch, open_ = self._batch()
            fresh = [item for put_s, item in batch if time.monotonic() - put_s <= self._stale_s]
            self._count("dropped", len(batch) - len(fresh))
            if not fresh:
                continue
            try:
                self._send(fresh)
            except Exception as error:
                # Whatever it was: some hints are lost, nothing else.
                self._count("failed", len(fresh))
                LOG.debug("%s: %d were not sent", self._name, len(fresh), exc_info=error)
                time.sleep(REST_S)
            else:
                self._count("sent", len(fresh))

    def _batch(self) -> tuple[list[tuple[float, T]], bool]:
        """What there is to send, after a short wait for company, and whether more may come."""
        first = self._queue.get()
        if first is None:
            return [], False
        time.sleep(self._linger_s)
        batch = [first]
        while len(batch) < self._most_at_once:
            try:
                following = self._queue.get_nowait()
            except queue.Empty:
                break
            if following is None:
                return batch, False
            batch.append(following)
        return batch, True

    def _count(self, result: str, number: int) -> None:
        if number:
            metrics.count(metrics.OUTBOX, self._name, result, number=number)
