"""Misty, the computer opponent: eight levels of one way of playing (rules document, section 14).

The levels differ in how often any legal action is taken instead of the best one,
and in nothing else. A decision needs a view, what is legal, chance, and somebody
who says when time is up:

    chance = chance_for(secret, match_id, seat, number)
    action = Misty(level, chance, time_limit()).choose(view, legal)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from matches.bots.expectation import Expectation
from matches.bots.policies import Chance, Uniform
from matches.games.protocol import Action, Seat
from matches.games.uniform import below, words
from matches.games.xqmj.view import HandView

RANDOM_SHARES: Mapping[int, int] = MappingProxyType(
    {1: 100, 2: 84, 3: 72, 4: 58, 5: 44, 6: 30, 7: 15, 8: 0}
)
"""Decisions in a hundred that are any legal action, by level (XM-83)."""
LIMIT_S = 0.050
"""Processor time after which the simple greedy policy decides (XM-85)."""


class Misty:
    """One decision of the computer at a level from 1 to 8; raises KeyError for another level."""

    def __init__(self, level: int, chance: Chance, expired: Callable[[], bool]) -> None:
        self._random_share = RANDOM_SHARES[level]
        self._chance = chance
        self._expired = expired

    def choose(self, view: HandView, legal: Sequence[Action]) -> Action:
        """Every win; else now and then any legal action, else the one of highest expectation."""
        if self._chance.randrange(100) < self._random_share:
            return Uniform(self._chance, takes_wins=True).choose(view, legal)
        return Expectation(self._expired).choose(view, legal)


class Draws:
    """Chance that follows from bytes."""

    def __init__(self, source: bytes) -> None:
        self._words: Iterator[int] = words(source)

    def randrange(self, stop: int, /) -> int:
        """A uniformly random integer from 0 to `stop` − 1, for at most 65,536 of them."""
        return below(stop, self._words)


def chance_for(secret: bytes, match_id: bytes, seat: Seat, number: int) -> Chance:
    """The chance of the action `number` of a seat in a match (XM-84).

    Whoever knows the match's secret draws the same again; players do not know
    it before the match has ended, so that they cannot foretell a random action.
    `secret` has 32 bytes, `match_id` 16.
    """
    place = bytes([seat]) + number.to_bytes(4, "big")
    return Draws(b"xqmj misty@1\0" + secret + match_id + place)


def time_limit(clock: Callable[[], float] = time.thread_time) -> Callable[[], bool]:
    """Whether this thread has used up the processor time of a decision since now (XM-85)."""
    end_s = clock() + LIMIT_S
    return lambda: clock() >= end_s
