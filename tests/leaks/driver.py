"""Drives pairs of worlds that are equal in all that one seat may know (I9, XM-76).

Both worlds of a pair play one script side by side, at the same instants; only
q's private passes may differ, in being there and in their instants. Whatever p
or a spectator can get hold of, between all steps and at the edges of the
pauses, must be the same bytes. What that is, a level says.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import msgspec

from matches.domain.commands import Act, Body, Leave, Resign
from matches.domain.state import Match
from matches.games.protocol import Action, Seat
from tests.leaks.engine.worlds import PLAYERS, Wall
from tests.leaks.scripts import Scout, Script, Step, other_wall, shuffled


class Leak(msgspec.Struct, frozen=True):
    """A difference between two worlds that are equal in all that the viewer may know."""

    seed: int
    viewer: str
    at_ms: int
    what: str
    left: str
    right: str


class Pair(msgspec.Struct, frozen=True):
    """What came of one seed: no pair, or one; `options`: q could do something in one world only."""

    made: bool
    options: bool
    leak: Leak | None


class Tally(msgspec.Struct):
    """How many pairs were made, how many of them with other options for q, and what leaked."""

    pairs: int = 0
    options: int = 0
    leaks: list[Leak] = []


class World(Protocol):
    """One match that can be played; instants are milliseconds from its beginning."""

    pass_at_ms: int | None
    """When q passes unseen, where that is planned."""

    @property
    def match(self) -> Match:
        """The match as it stands."""

    def legal(self, seat: Seat) -> tuple[Action, ...]:
        """What the seat may do in the hand."""

    def reach(self, now_ms: int) -> None:
        """Let time pass: q's private pass, where one is planned, and what the table owes."""

    def send(self, at_ms: int, player: str, body: Body) -> None:
        """Let a player command something that must be possible."""


W = TypeVar("W", bound=World)


class Watch(ABC, Generic[W]):
    """Two worlds side by side, compared for p and for a spectator at every instant it chooses."""

    def __init__(
        self, seed: int, chance: random.Random, script: Script, worlds: tuple[W, W]
    ) -> None:
        self.seed, self.chance, self.script, self.worlds = seed, chance, script, worlds
        self.now_ms = 0

    @abstractmethod
    def _compare(self) -> Leak | None:
        """The first difference in what p and a spectator can get hold of now."""

    def run(self) -> Leak | None:
        """Play the script in both worlds; the first difference, if there is one."""
        leak = self._compare()
        for step in self.script.steps:
            leak = leak or self._between(step)
            if leak is not None:
                return leak
            self._both(step.at_ms, PLAYERS[step.seat], Act(step.action))
            leak = self._compare()
        return leak or self._tail()

    def _between(self, step: Step | None) -> Leak | None:
        """Look in at some instants before the step, or before the end."""
        pause_ms = self.worlds[0].match.pause_until_ms
        until_ms = max(self.now_ms, pause_ms) + 12_000 if step is None else step.at_ms
        if step is None or not step.answer:
            self._plan_passes(pause_ms)
        edges = [pause_ms - 1, pause_ms, pause_ms + 1, (self.now_ms + pause_ms) // 2, until_ms]
        for at_ms in sorted(self.chance.sample(edges, 2 if step is not None else 4)):
            if self.now_ms <= at_ms <= until_ms and not self._is_down(at_ms):
                self._reach(at_ms)
                leak = self._compare()
                if leak is not None:
                    return leak
        self._reach(until_ms)
        return None

    def _plan_passes(self, pause_ms: int) -> None:
        """Let q pass unseen in each world in which it could claim, at an instant of its own."""
        gap = self.script.gap
        room_ms = pause_ms - self.now_ms
        if gap is not None and self.now_ms < gap.from_ms < pause_ms:
            room_ms = gap.from_ms - self.now_ms
        for world in self.worlds:
            hand = world.match.hand
            if hand.turn == self.script.q and hand.phase == "offer" and world.legal(hand.turn):
                world.pass_at_ms = self.now_ms + self.chance.randrange(room_ms)

    def _tail(self) -> Leak | None:
        leak = self._between(None)
        if leak is None and self.worlds[0].match.ended is None:
            seat = self.chance.choice((0, 1))
            self._both(self.now_ms, PLAYERS[seat], self.chance.choice((Resign(), Leave())))
            leak = self._compare()
        return leak

    def _is_down(self, at_ms: int) -> bool:
        gap = self.script.gap
        return gap is not None and gap.from_ms < at_ms < gap.until_ms

    def _reach(self, at_ms: int) -> None:
        self.now_ms = at_ms
        for world in self.worlds:
            world.reach(at_ms)

    def _both(self, at_ms: int, player: str, body: Body) -> None:
        self.now_ms = at_ms
        for world in self.worlds:
            world.send(at_ms, player, body)


@dataclass(frozen=True)
class Level(Generic[W]):
    """A level at which worlds are compared: what is put up for them, and who watches them."""

    stage: Callable[[], AbstractContextManager[object]]
    world: Callable[[Script, Wall], W]
    watch: Callable[[int, random.Random, Script, tuple[W, W]], Watch[W]]
    outages: bool
    """Whether a world can go without its servers for a while."""

    def tally(self, first_seed: int, pairs: int) -> Tally:
        """Make so many pairs, from a seed on; ends with the first leak."""
        found = Tally()
        seed = first_seed
        with self.stage():
            while found.pairs < pairs and not found.leaks:
                made = self._pair(seed)
                seed += 1
                found.pairs += made.made
                found.options += made.options
                if made.leak is not None:
                    found.leaks.append(made.leak)
        return found

    def _pair(self, seed: int) -> Pair:
        """Make one pair and compare it; the same for ever for the same seed."""
        chance = random.Random(seed)
        p, wall, later = Seat(chance.randrange(2)), shuffled(chance), shuffled(chance)
        script = Scout(chance, p, wall, later).script()
        playable = self.outages or script.gap is None
        other = other_wall(chance, script, wall) if playable else None
        if other is None:
            return Pair(made=False, options=False, leak=None)
        worlds = self.world(script, wall), self.world(script, other[0])
        leak = self.watch(seed, chance, script, worlds).run()
        return Pair(made=True, options=other[1], leak=leak)
