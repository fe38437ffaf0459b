"""The sweep: lets every table do what it owes, whoever plays there and whether anybody looks.

It decides nothing: what is due, and when, follows from the log and the
database's clock. Doubled, late or lost sweeps change no result.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol
from uuid import UUID

import msgspec

from matches.domain import match as domain
from matches.eventstore.pool import Unavailable
from matches.services import execute, metrics
from matches.services.engine import Engine, Settled
from matches.services.errors import ServiceError

LOG = logging.getLogger("xqmj.services")

BATCH = 200
FIRST_REST_S, LONGEST_REST_S = 0.25, 30.0
MOST_RESTING = 10_000


class Swept(msgspec.Struct, frozen=True):
    """What one sweep did.

    `settled` matches moved on, `failed` could not. `late_ms` holds, for each
    event, the time from its instant to its settling, on the database clock; a
    deadline's includes the grace it is given. `next_dues_ms` are the instants
    at which the matches just settled are due again, `now_ms` is the clock.
    """

    settled: int
    failed: int
    late_ms: tuple[int, ...]
    now_ms: int
    next_dues_ms: tuple[int, ...]


class Backoff:
    """Matches that cannot be settled now, and for how long they are left alone.

    None of them may starve the others: the sweep asks for due matches without them.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._resting: dict[UUID, tuple[float, float]] = {}

    def resting(self) -> list[UUID]:
        """The matches to leave alone now."""
        now_s = self._clock()
        with self._lock:
            return [match_id for match_id, (until_s, _) in self._resting.items() if until_s > now_s]

    def rest(self, match_id: UUID) -> None:
        """Leave a match alone for a while, twice as long as the last time."""
        with self._lock:
            _, last_s = self._resting.pop(match_id, (0.0, 0.0))
            rest_s = min(LONGEST_REST_S, 2 * last_s or FIRST_REST_S)
            self._resting[match_id] = (self._clock() + rest_s, rest_s)
            while len(self._resting) > MOST_RESTING:
                self._resting.pop(next(iter(self._resting)))

    def settled(self, match_id: UUID) -> None:
        """A match moved on: it has no history of rests any more."""
        with self._lock:
            self._resting.pop(match_id, None)


class Mapper(Protocol):
    """Runs a function over items, perhaps several at a time."""

    def __call__(
        self, function: Callable[[UUID], Settled | None], items: Iterable[UUID], /
    ) -> Iterable[Settled | None]:
        """The results in the order of the items."""
        ...


class Sweeper:
    """Sweeps over one engine. `mapper` may settle several matches of a batch at a time."""

    def __init__(
        self, engine: Engine, *, backoff: Backoff | None = None, mapper: Mapper = map
    ) -> None:
        self._engine = engine
        self._backoff = Backoff() if backoff is None else backoff
        self._mapper = mapper
        self._away = threading.Event()

    def settle_due(self, limit: int = BATCH) -> Swept:
        """Settle up to `limit` matches whose table has something to do, longest due first.

        Raises `Unavailable` when the log cannot be asked which.
        """
        due = self._engine.store.due(limit, self._backoff.resting())
        self._away.clear()
        results = list(self._mapper(self._settle_due, [match_id for match_id, _ in due.matches]))
        settled = [one for one in results if one is not None]
        return Swept(
            settled=sum(1 for one in settled if one.events),
            failed=len(results) - len(settled),
            late_ms=tuple(
                one.entry.now_ms - stamped.at_ms for one in settled for stamped in one.events
            ),
            now_ms=due.now_ms,
            next_dues_ms=tuple(_next_dues(settled)),
        )

    def settle_one(self, match_id: UUID) -> Settled:
        """Settle one match. Raises `ServiceError` unknown_match, unavailable, unreadable_match."""
        settled = self._engine.settle(match_id, by="sweep")
        for stamped in settled.events:
            metrics.LATENESS.observe((settled.entry.now_ms - stamped.at_ms) / 1000)
        return settled

    def _settle_due(self, match_id: UUID) -> Settled | None:
        if self._away.is_set():
            return None
        try:
            settled = self.settle_one(match_id)
        except ServiceError as error:
            metrics.count(metrics.SWEEP_FAILURES, error.code)
            if isinstance(error.__cause__, Unavailable):
                # It is the log that is away: the rest would only wait for it, one by one.
                self._away.set()
            else:
                self._backoff.rest(match_id)
            return None
        except Exception:
            # One match that this code cannot handle must not keep the others waiting.
            LOG.exception("a match could not be settled", extra={"match_id": str(match_id)})
            metrics.count(metrics.SWEEP_FAILURES, "internal_error")
            self._backoff.rest(match_id)
            return None
        due = domain.due_at(settled.entry.match)
        if settled.events or due is None or due.at_ms > settled.entry.now_ms:
            self._backoff.settled(match_id)
        else:
            self._backoff.rest(match_id)
        return settled


def _next_dues(settled: Iterable[Settled]) -> Iterator[int]:
    for one in settled:
        due = domain.due_at(one.entry.match)
        if due is not None:
            yield due.look_at_ms


_sweeper: Sweeper | None = None
_making = threading.Lock()


def sweeper() -> Sweeper:
    """The sweeper of this process."""
    global _sweeper  # noqa: PLW0603 - one a process is the point
    with _making:
        if _sweeper is None:
            _sweeper = Sweeper(execute.engine())
        return _sweeper


def _forget() -> None:
    """After a fork: the engine is the parent's."""
    global _sweeper, _making
    _sweeper, _making = None, threading.Lock()


os.register_at_fork(after_in_child=_forget)
