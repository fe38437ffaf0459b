"""An event loop in the time of a test."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple

from tests.support.memory_store import Clock

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class StillLoop(asyncio.BaseEventLoop):
    """Waits in no time: the clock jumps to whatever is next, and stands still between runs.

    What is given to a thread is done at once, so that everything has one order.
    `moved` is called whenever the clock was.
    """

    def __init__(self, clock: Clock, moved: Callable[[], None]) -> None:
        super().__init__()
        self._clock, self._moved = clock, moved
        self._began_ms = self._until_ms = clock()
        self._selector = self
        self._clock_resolution = 0.0006  # more than half of the clock's own millisecond

    def run_to(self, at_ms: int) -> None:
        """Do all that is to be done by an instant, and leave the clock there."""
        self._until_ms = max(at_ms, self._clock())
        self.run_forever()

    def time(self) -> float:
        """Seconds since the loop was made."""
        return (self._clock() - self._began_ms) / 1000

    def select(self, timeout_s: float | None) -> list[Any]:
        """Let the clock jump where a loop waits for its sockets; there are none."""
        if timeout_s == 0:
            return []
        left_ms = self._until_ms - self._clock()
        wait_ms = left_ms + 1 if timeout_s is None else round(timeout_s * 1000)
        if wait_ms > left_ms:
            wait_ms = left_ms
            self.stop()
        self._clock.advance(wait_ms)
        self._moved()
        return []

    def run_in_executor(
        self,
        executor: Executor | None,  # noqa: ARG002
        func: Callable[[*Ts], T],
        *args: *Ts,
    ) -> asyncio.Future[T]:
        """Do it now, in no other thread."""
        done: asyncio.Future[T] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:
            done.set_exception(error)
        return done

    def _process_events(self, _events: list[Any]) -> None:
        """Nothing comes from outside."""

    def _write_to_self(self) -> None:
        """Nobody waits who would have to be woken."""
