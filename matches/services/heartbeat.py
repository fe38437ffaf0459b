"""The heartbeat of a process that answers players: while it beats, no clock is given time back.

A worker never beats: a living worker helps no player (docs/adr/0003).
"""

from __future__ import annotations

import logging
import os
import threading

from django.conf import settings

from matches.eventstore import store
from matches.eventstore.pool import Unavailable
from matches.services import metrics

LOG = logging.getLogger("xqmj.services")

EVERY_S = 0.1


class Heartbeat:
    """Beats in a thread of its own until it is stopped."""

    def __init__(self, *, every_s: float = EVERY_S) -> None:
        self._every_s = every_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="xqmj-heartbeat", daemon=True)

    def start(self) -> None:
        """Begin to beat, the first time before this returns."""
        self._beat()
        self._thread.start()

    def stop(self) -> None:
        """Beat no more; returns when the thread has ended."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._every_s):
            self._beat()

    def _beat(self) -> None:
        try:
            store.beat()
        except Unavailable:
            # Nobody can write to the log, so the service is away: the missing beat says so.
            metrics.count(metrics.BEATS, "failed")
        except Exception:
            # Whatever it was, a process without a heart would give everybody time back.
            metrics.count(metrics.BEATS, "failed")
            LOG.exception("a heartbeat failed")
        else:
            metrics.count(metrics.BEATS, "ok")


_heartbeat: Heartbeat | None = None
_starting = threading.Lock()


def ensure() -> None:
    """Beat from now on, if this process answers players and does not beat yet.

    The entry points call it when they are loaded, so that a server that nobody
    asks anything is not taken for one that is down.
    """
    global _heartbeat  # noqa: PLW0603 - one a process is the point
    if _heartbeat is not None or not settings.XQMJ_IS_WEB:
        return
    with _starting:
        if _heartbeat is None:
            _heartbeat = Heartbeat()
            _heartbeat.start()


def stop() -> None:
    """Stop beating, until the next `ensure`."""
    global _heartbeat
    with _starting:
        beating, _heartbeat = _heartbeat, None
    if beating is not None:
        beating.stop()


def _forget() -> None:
    """After a fork: the thread is the parent's."""
    global _heartbeat, _starting
    _heartbeat, _starting = None, threading.Lock()


os.register_at_fork(after_in_child=_forget)
