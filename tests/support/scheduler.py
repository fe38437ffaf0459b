"""Actors that run one at a time on a clock that jumps: the seed decides everything.

An actor is a thread that hands the turn on at every pause, so that two runs
with the same seed take the same steps in the same order.
"""

from __future__ import annotations

import hashlib
import random
import threading
from collections.abc import Callable

from tests.support.memory_store import Clock


class Stopped(BaseException):
    """The simulation is over: the actor ends where it stands."""


def _taken() -> threading.Lock:
    """A lock that is held: one thread waits for it, another one lets it go."""
    lock = threading.Lock()
    lock.acquire()
    return lock


class Actor:
    """One of those who take turns."""

    def __init__(self, name: str, *, daemon: bool, wake_ms: int) -> None:
        self.name = name
        self.daemon = daemon
        self.wake_ms = wake_ms
        self.over = False
        self.turn = _taken()
        self.ended = _taken()


class Scheduler:
    """Gives turns until every actor that is no daemon is done."""

    def __init__(self, chance: random.Random, clock: Clock, *, most_turns: int = 200_000) -> None:
        self.chance = chance
        self.clock = clock
        self.turns = 0
        self._most_turns = most_turns
        self._actors: list[Actor] = []
        self._current: Actor | None = None
        self._finished = _taken()
        self._ending = False
        self._error: BaseException | None = None
        self._trace = hashlib.sha256()

    def spawn(self, name: str, run: Callable[[], None], *, daemon: bool = False) -> None:
        """Add an actor; it begins when it gets a turn."""
        actor = Actor(name, daemon=daemon, wake_ms=self.clock())
        self._actors.append(actor)
        threading.Thread(target=self._live, args=(actor, run), daemon=True).start()

    def pause(self, label: str, ms: int = 0) -> None:
        """Hand the turn on, for `ms` at least; called by the actor whose turn it is."""
        actor = self._current
        assert actor is not None, "only an actor pauses"
        if self._ending:
            raise Stopped
        self._trace.update(f"{self.clock()} {actor.name} {label}\n".encode())
        actor.wake_ms = self.clock() + ms
        following = self._next()
        if following is actor:
            return
        self._give(following)
        actor.turn.acquire()
        if self._ending:
            raise Stopped

    def sleep(self, seconds: float) -> None:
        """What stands in for `time.sleep`."""
        self.pause("sleep", round(seconds * 1000))

    def run(self) -> None:
        """Give turns to the end; raises the first error of an actor."""
        self._give(self._next())
        self._finished.acquire()
        self._ending = True
        for actor in self._actors:
            if not actor.over:
                self._give(actor)
            actor.ended.acquire()
        if self._error is not None:
            raise self._error

    @property
    def whose_turn(self) -> str:
        """The name of the actor that runs."""
        assert self._current is not None
        return self._current.name

    @property
    def trace(self) -> str:
        """A digest of every turn: equal for two runs that took the same steps."""
        return self._trace.hexdigest()

    def _live(self, actor: Actor, run: Callable[[], None]) -> None:
        """What an actor's thread runs."""
        actor.turn.acquire()
        try:
            if not self._ending:
                run()
            actor.over = True
            if not self._ending and any(not (one.over or one.daemon) for one in self._actors):
                self._give(self._next())
                return
        except Stopped:
            pass
        except BaseException as error:
            self._error = self._error or error
        finally:
            actor.over = True
            actor.ended.release()
        if not self._ending:
            self._finished.release()

    def _next(self) -> Actor:
        self.turns += 1
        assert self.turns < self._most_turns, "the simulation does not end"
        living = [actor for actor in self._actors if not actor.over]
        ready = [actor for actor in living if actor.wake_ms <= self.clock()]
        if not ready:
            self.clock.ms = min(actor.wake_ms for actor in living)
            ready = [actor for actor in living if actor.wake_ms <= self.clock()]
        return ready[0] if len(ready) == 1 else self.chance.choice(ready)

    def _give(self, actor: Actor) -> None:
        self._current = actor
        actor.turn.release()
