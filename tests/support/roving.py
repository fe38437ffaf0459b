"""Players who do anything, at instants around the boundaries; the source of chance is the test's.

With `random.Random(seed)` a match is the same for ever; with the generator of
`hypothesis.strategies.randoms` a failing one shrinks.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from matches.domain import match as matches
from matches.domain.clock import GRACE_MS, Gap
from matches.domain.commands import Act, Body, ClaimAbsence, Command, Join, Leave, Ready, Resign
from matches.domain.state import Match
from matches.games.protocol import Action, Rejected
from tests.support.sitting import ANA, BEN, EVE, Sitting
from tests.support.xqmj import CHOW, PASS, PUNG, WIN, discard

_ANYTHING: tuple[Body, ...] = (
    Join(),
    Ready(),
    Ready("zz"),
    ClaimAbsence(0),
    *(Act(action) for action in (PASS, CHOW, PUNG, WIN)),
    *(Act(discard(tile, drawn=drawn)) for tile in ("rP", "bK") for drawn in (False, True)),
)
_AROUND_MS = (-1, 0, 1)
_THINKING_MS = (0, 1, 2, 60, 99, 100, 101, 400, 1_499, 1_500, 1_501, 2_500)


class Roving:
    """A sitting whose players, sweeps and outages come by chance. `now_ms` is the clock."""

    def __init__(self, chance: random.Random, *, control: str = "1+1", hasty: bool = False) -> None:
        self.chance = chance
        self.hasty = hasty
        self.now_ms = 0
        self.gaps: list[Gap] = []
        self.sitting = Sitting(control=control, secret=chance.randbytes(32))
        self.refused: list[str] = []

    @property
    def match(self) -> Match:
        """The match as it stands."""
        return self.sitting.match

    def step(self) -> None:
        """Let something happen: time, an outage, a sweep, or a command of anybody."""
        choice = self.chance.randrange(100)
        if choice < 2:
            self.outage()
        elif choice < 14:
            self.sweep()
        elif choice < 22:
            self.junk()
        else:
            self.sensible()

    def wait(self) -> None:
        """Let time pass: some usual thinking, or up to the edge of whatever is due."""
        due = matches.due_at(self.match)
        rarity = 2 if due is not None and not due.deadline else 100
        if due is not None and self.chance.randrange(rarity) == 0:
            edge_ms = due.at_ms + self.chance.choice(_AROUND_MS)
            self.now_ms = max(self.now_ms, edge_ms)
        elif self.chance.randrange(2):
            edge_ms = self.match.pause_until_ms + self.chance.choice(_AROUND_MS)
            self.now_ms = max(self.now_ms, edge_ms)
        else:
            self.now_ms += self.chance.choice(_THINKING_MS)

    def outage(self) -> None:
        """Let the service be away for a while that it notices."""
        from_ms = self.now_ms
        self.now_ms += self.chance.choice((1_001, 1_500, 9_000, 70_000))
        if self.chance.randrange(2):
            # A worker outlives the web and sweeps; it moves no deadline past the last beat.
            seen_ms = self.chance.randrange(from_ms, self.now_ms)
            self.sitting.settle(seen_ms, deadline_ms=from_ms, gaps=self.gaps)
        self.gaps.append(Gap(from_ms, self.now_ms))

    def sweep(self) -> None:
        """Let the sweeper look, with its grace; sometimes when nothing is due."""
        self.wait()
        self.sitting.settle(self.now_ms, deadline_ms=self.now_ms - GRACE_MS, gaps=self.gaps)

    def junk(self) -> None:
        """Let anybody ask for anything."""
        self.command(self.chance.choice((ANA, BEN, EVE)), self.chance.choice(_ANYTHING))

    def sensible(self) -> None:
        """Let somebody do what the match waits for, after some time; else let the table act."""
        self.wait()
        sought = self._sought()
        if sought is None:
            self.sitting.settle(self.now_ms, gaps=self.gaps)
            return
        player, body = sought
        if self.match.hand_no and self.chance.randrange(400) == 0:
            body = self.chance.choice((Resign(), Leave()))
        self.command(player, body)

    def _sought(self) -> tuple[str, Body] | None:
        if self.match.phase == "open":
            return BEN, Join()
        if self.match.phase != "playing":
            nonce = self.chance.choice((None, None, None, "00" * 8))
            return self.chance.choice((ANA, BEN)), Ready(nonce)
        for seat in self.match.setup.rules.to_act(self.match.hand):
            legal = self.match.setup.rules.legal(self.match.hand, seat)
            return self.sitting.player(seat), Act(self._choice(legal))
        return None

    def _choice(self, legal: Sequence[Action]) -> Action:
        if self.hasty and self.chance.randrange(2):
            return legal[0]
        return legal[self.chance.randrange(len(legal))]

    def command(self, player: str, body: Body) -> None:
        """Send a command now, as the services do: settle, then decide, or be refused.

        A refused command must change nothing, and be refused the same way again (I8).
        """
        self.sitting.settle(self.now_ms, gaps=self.gaps)
        before, log = self.match, len(self.sitting.log)
        command = Command(self.now_ms, player, body)
        refusal = _refusal(before, command)
        if refusal is None:
            self.sitting.send(self.now_ms, player, body)
            return
        self.refused.append(refusal)
        assert (self.match, len(self.sitting.log)) == (before, log)
        assert _refusal(self.match, command) == refusal

    def play(self, *, steps: int = 2_000) -> Roving:
        """Go on until the match is over, or so many things have happened."""
        for _ in range(steps):
            if self.match.ended is not None:
                break
            self.step()
        return self


def _refusal(match: Match, command: Command) -> str | None:
    try:
        matches.decide(match, command)
    except Rejected as refusal:
        return refusal.code
    return None
