"""Matches that are left to the table: whatever happens in them it has to see to."""

from __future__ import annotations

import threading
from itertools import cycle

from tests.faults.clients import Book, Table
from tests.faults.service import Service
from tests.support.waiting import until


class Absent:
    """Matches that begin one after the other, and are left alone as soon as they have.

    In turn: nobody is ready, nobody moves, and after one move nobody goes on.
    With short times (`ours.SHORT`) each ends within seconds.
    """

    def __init__(self, service: Service, *, seed: int) -> None:
        self.book = Book()
        self.matches: list[str] = []
        self._table = Table(service.port, self.book, seed=f"absent/{seed}", control="1+1")
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Absent:
        self._table.enter()
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        self._thread.join()
        self._table.close()

    def wait_for(self, more: int) -> None:
        """Return when so many more have begun."""
        wanted = len(self.matches) + more
        assert until(lambda: len(self.matches) >= wanted, within_s=60)

    def _run(self) -> None:
        for kind in cycle(("unready", "unmoved", "unfinished")):
            if self._stop.wait(0.2):
                return
            if kind == "unready":
                self._table.pair()
            else:
                self._table.begin()
            if kind == "unfinished":
                self._table.step()
            self.matches.append(self._table.match_id)


def live(service: Service) -> int:
    """How many matches have not ended."""
    return int(service.query("SELECT count(*) FROM es.match_head WHERE status = 1")[0][0])
