"""Which of the matches that are followed here have moved on: one question a second for all of them.

Whoever follows a match looks at the log now and then, since a notice may be
lost. Thousands who look at matches in which nothing happens would keep the
database and this process from their work, so a thread of its own asks for the
heads of all, and nobody looks who has what there is.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from uuid import UUID

from matches.eventstore import store
from matches.eventstore.pool import Unavailable

LOG = logging.getLogger("xqmj.services")

EVERY_S = 1.0
TRUSTED_S = 2.5
"""What was asked longer ago says nothing: the database is away, or it is slow."""


class Heads:
    """The heads of the matches that somebody follows."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Know nothing: after a fork the lock and the thread are the parent's."""
        self._lock = threading.Lock()
        self._followed: Counter[UUID] = Counter()
        self._versions: dict[UUID, int] = {}
        self._asked_s = -TRUSTED_S
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def followed(self, match_id: UUID) -> Iterator[None]:
        """Ask for this match as well."""
        with self._lock:
            self._followed[match_id] += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="xqmj-heads", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._followed[match_id] -= 1
                if not self._followed[match_id]:
                    del self._followed[match_id]

    def may_have_moved(self, match_id: UUID, version: int) -> bool:
        """Whether there may be more than `version`, or something that the table owes.

        False only where the log has said within `TRUSTED_S` that there is not.
        """
        with self._lock:
            recent = time.monotonic() - self._asked_s < TRUSTED_S
            return not recent or self._versions.get(match_id) != version

    def ask(self) -> None:
        """Ask for the heads of all that are followed; raises `Unavailable`."""
        with self._lock:
            wanted = list(self._followed)
        asked_s = time.monotonic()
        versions = store.settled_versions(wanted) if wanted else {}
        with self._lock:
            self._versions, self._asked_s = versions, asked_s

    def _run(self) -> None:
        while True:
            try:
                self.ask()
            except Unavailable as error:
                LOG.debug("no heads are known: %s", error)
            except Exception:
                LOG.exception("the heads could not be asked for")
            time.sleep(EVERY_S)


heads = Heads()
"""Those of this process."""


os.register_at_fork(after_in_child=heads.reset)
