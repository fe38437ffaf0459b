"""The steps of the ladder: each level against the one below it, the highest against greedy."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from math import sqrt
from multiprocessing import get_context

import msgspec

from matches.bots.expectation import warm
from matches.bots.misty import RANDOM_SHARES, Misty, chance_for, time_limit
from matches.bots.policies import Greedy, Policy
from matches.games.protocol import Action, Seat
from matches.games.registry import rules_for
from matches.games.xqmj.view import HandView
from matches.management.ladder.table import play_match

RULESET = "xqmj-32-2p"
BATCH = 10
"""Matches that a process plays before it tells how they went."""
ERRORS = 2
"""A score meets its target within so many standard errors."""


class Step(msgspec.Struct, frozen=True):
    """A level against the level `below`, None for greedy; its score should be in `target`."""

    level: int
    below: int | None
    target: tuple[float, float]

    @property
    def name(self) -> str:
        """Who plays whom."""
        return f"{self.level} v {self.below or 'greedy'}"


STEPS: tuple[Step, ...] = (
    *(Step(level, level - 1, (0.60, 0.64)) for level in sorted(RANDOM_SHARES)[1:]),
    Step(max(RANDOM_SHARES), None, (0.50, 0.60)),
)
"""Every step with the target of the rules document (section 14)."""


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """What came of some matches of a step, seen from its upper player.

    `points` are those of the upper and the lower player. `thinking_s` is what
    the `decisions` of the upper player took, `playing_s` all of the play, and
    `actions` are those of both players; all in seconds of processor time.
    """

    wins: int = 0
    draws: int = 0
    losses: int = 0
    points: tuple[int, int] = (0, 0)
    decisions: int = 0
    thinking_s: float = 0.0
    actions: int = 0
    playing_s: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            wins=self.wins + other.wins,
            draws=self.draws + other.draws,
            losses=self.losses + other.losses,
            points=(self.points[0] + other.points[0], self.points[1] + other.points[1]),
            decisions=self.decisions + other.decisions,
            thinking_s=self.thinking_s + other.thinking_s,
            actions=self.actions + other.actions,
            playing_s=self.playing_s + other.playing_s,
        )

    @property
    def matches(self) -> int:
        """How many there were."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """The share of the matches that were won, draws counting half."""
        return (self.wins + self.draws / 2) / self.matches

    @property
    def error(self) -> float:
        """The standard error of the score."""
        square = (self.wins + self.draws / 4) / self.matches
        return sqrt(max(0.0, square - self.score**2) / self.matches)

    def meets(self, target: tuple[float, float]) -> bool:
        """Whether the score is in a target, or out of it by chance."""
        low, high = target
        slack = ERRORS * self.error
        return low - slack <= self.score <= high + slack


class Player:
    """A seat of one match: a level, None for greedy; counts its actions and what they take."""

    def __init__(self, level: int | None, secret: bytes, match_id: bytes, seat: Seat) -> None:
        self._level = level
        self._place = (secret, match_id, seat)
        self.actions = 0
        self.thinking_s = 0.0

    def choose(self, view: HandView, legal: Sequence[Action]) -> Action:
        """What the player's policy does, with the chance of this action."""
        begun = time.thread_time()
        action = self._policy().choose(view, legal)
        self.thinking_s += time.thread_time() - begun
        self.actions += 1
        return action

    def _policy(self) -> Policy:
        if self._level is None:
            return Greedy()
        secret, match_id, seat = self._place
        chance = chance_for(secret, match_id, seat, self.actions)
        return Misty(self._level, chance, time_limit())


def play(step: Step, *, seed: str, first: int, count: int) -> Tally:
    """Some matches of a step, from number `first` on; the upper player changes seats."""
    rules = rules_for(RULESET)
    begun = time.thread_time()
    tally = Tally()
    for number in range(first, first + count):
        secret = hashlib.sha256(f"{seed} {step.name}".encode()).digest()
        match_id = number.to_bytes(16, "big")
        upper = Player(step.level, secret, match_id, Seat(number % 2))
        lower = Player(step.below, secret, match_id, Seat(1 - number % 2))
        seated = (upper, lower) if number % 2 == 0 else (lower, upper)
        ended = play_match(rules, secret, match_id, seated)
        own, other = ended if number % 2 == 0 else ended[::-1]
        tally += Tally(
            wins=own > other,
            draws=own == other,
            losses=own < other,
            points=(own, other),
            decisions=upper.actions,
            thinking_s=upper.thinking_s,
            actions=upper.actions + lower.actions,
        )
    return tally + Tally(playing_s=time.thread_time() - begun)


def climb(
    steps: Sequence[Step], *, matches: int, seed: str, jobs: int
) -> Iterator[tuple[Step, Tally]]:
    """Every batch of every step as it is played, in `jobs` processes."""
    batches = [
        (step, first, min(BATCH, matches - first))
        for step in steps
        for first in range(0, matches, BATCH)
    ]
    if jobs == 1:
        warm()
        for step, first, count in batches:
            yield step, play(step, seed=seed, first=first, count=count)
        return
    context = get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=warm) as pool:
        played = {
            pool.submit(play, step, seed=seed, first=first, count=count): step
            for step, first, count in batches
        }
        for batch in as_completed(played):
            yield played[batch], batch.result()
