"""Whole matches played through an engine by seats that see no more than their views."""

from __future__ import annotations

import random
from typing import Any

from matches.bots.policies import Uniform
from matches.domain import match as domain
from matches.domain.commands import Act, Ready
from matches.domain.visibility import view
from matches.games.protocol import Seat, SeatViewer
from matches.services.engine import Executed
from matches.services.errors import ServiceError
from tests.support.parlour import PLAYERS, Parlour


class Players:
    """Both seats, playing at random but for wins; the same seed plays the same match."""

    def __init__(self, parlour: Parlour, seed: int, *, slowest_ms: int = 3_000) -> None:
        self.parlour = parlour
        self.chance = random.Random(seed)
        self.policy = Uniform(self.chance, takes_wins=True)
        self.slowest_ms = slowest_ms

    def step(self) -> Executed | None:
        """Let whoever has to act do so after some thought, else let the table act."""
        parlour = self.parlour
        entry = parlour.observe()
        if entry.match.phase == "intermission":
            return self._ready()
        for seat in (Seat(0), Seat(1)):
            seen = view(entry.match, SeatViewer(seat))
            if seen.legal:
                parlour.advance(self.chance.randrange(self.slowest_ms))
                action: Any = self.policy.choose(seen.hand, seen.legal)
                return parlour.send(PLAYERS[seat], Act(action))
        due = domain.due_at(entry.match)
        assert due is not None
        parlour.to(max(due.at_ms, parlour.clock()))
        return None

    def play(self) -> None:
        """Play to the end."""
        while self.parlour.observe().match.ended is None:
            self.step()

    def _ready(self) -> Executed | None:
        self.parlour.advance(self.chance.randrange(4_000))
        seat = self.chance.randrange(2)
        try:
            return self.parlour.send(PLAYERS[seat], Ready())
        except ServiceError:
            # It was ready before, or the next hand was dealt meanwhile.
            return None
