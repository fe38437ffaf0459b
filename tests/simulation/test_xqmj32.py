"""Whole hands in numbers, against the cross-check table of the rules document (section 15.4)."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from math import sqrt
from multiprocessing import get_context
from statistics import fmean, pvariance

import msgspec
import pytest

from matches.bots.expectation import Expectation
from matches.bots.policies import First, Greedy, Policy, Uniform
from matches.games.protocol import Seat
from matches.games.xqmj.events import ChowMade, PungMade, TileDiscarded
from matches.management.ladder.table import play_hand
from tests.support.xqmj import two_player_rules

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

HANDS = 20_000
CHUNK = 1_000
MAX_ERRORS = 4

POLICIES: dict[str, Callable[[random.Random], Policy]] = {
    "random": Uniform,
    "random, takes wins": partial(Uniform, takes_wins=True),
    "first": lambda _chance: First(),
    "greedy": lambda _chance: Greedy(),
    "expectation": lambda _chance: Expectation(lambda: False),
}


class Hand(msgspec.Struct, frozen=True):
    """What is counted of one hand; `by_dealer` is None for a void hand."""

    by_dealer: bool | None
    how: str
    points: int
    discards: int
    melds: int
    wall_left: int

    @property
    def turns(self) -> int:
        """Discards, and self-draws instead of one."""
        return self.discards + (self.how not in ("discard", "void"))


class Row(msgspec.Struct, frozen=True):
    """A figure of the table; `digit` is what its last digit is worth."""

    value: float
    digit: float


class Column(msgspec.Struct, frozen=True):
    """A policy's column, made from so many `hands`.

    The table's row "discards per hand" is `turns` here: beside its own rows of
    wall left, melds, and turns + answers it fits only if self-draws are counted
    too (greedy: 1 + (23 − 14.5) + .27 = 9.8 turns, .57 of them self-draws).
    """

    hands: int
    shares: dict[str, float]
    points: Row
    turns: Row
    turns_and_answers: Row
    melds: Row
    wall_left: Row


def column(hands: int, shares: list[float], means: list[float]) -> Column:
    """A column as it is printed."""
    names = ["void", "dealer", "other"]
    names += ["discard", "self_draw", "last_tile_self_draw", "heavenly"]
    points, turns, both, melds, wall_left = means
    return Column(
        hands=hands,
        shares=dict(zip(names, shares, strict=True)),
        points=Row(points, 0.01),
        turns=Row(turns, 0.1),
        turns_and_answers=Row(both / 6, 1 / 6),
        melds=Row(melds, 0.01),
        wall_left=Row(wall_left, 0.1),
    )


TABLE = {
    "random": column(
        18_000,
        [0.735, 0.130, 0.135, 0.149, 0.107, 0.0066, 0.0025],
        [3.17, 22.0, 263, 0.54, 2.5],
    ),
    "random, takes wins": column(
        18_000,
        [0.522, 0.239, 0.239, 0.258, 0.202, 0.0087, 0.0095],
        [3.20, 19.3, 230, 0.44, 5.2],
    ),
    "first": column(
        18_000,
        [0.230, 0.393, 0.377, 0.190, 0.537, 0.033, 0.0096],
        [3.78, 17.4, 205, 0, 6.6],
    ),
    "greedy": column(
        120_000,
        [0.0034, 0.526, 0.471, 0.430, 0.553, 0.0033, 0.0105],
        [3.33, 9.8, 114, 0.27, 14.5],
    ),
    "expectation": column(
        18_000,
        [0.0103, 0.519, 0.471, 0.341, 0.634, 0.0024, 0.0125],
        [3.87, 10.6, 123, 0.37, 13.8],
    ),
}


def play(policy: str, seed: int) -> Hand:
    """One hand with the same policy in both seats; the deal alternates."""
    rules = two_player_rules()
    chance = random.Random(f"{policy} {seed}")
    player = POLICIES[policy](chance)
    dealer = Seat(seed % 2)
    order = tuple(chance.sample(rules.deck, len(rules.deck)))
    played = list(play_hand(rules, rules.deal(order, dealer), (player, player)))
    state = played[-1][1]
    outcome = rules.outcome(state)
    assert outcome is not None
    return Hand(
        by_dealer=None if outcome.winner is None else outcome.winner == dealer,
        how=outcome.how,
        points=sum(outcome.points),
        discards=sum(isinstance(event, TileDiscarded) for event, _ in played),
        melds=sum(isinstance(event, ChowMade | PungMade) for event, _ in played),
        wall_left=state.wall_left,
    )


def play_chunk(policy: str, first: int) -> list[Hand]:
    """Some hands, in a process of its own."""
    return [play(policy, seed) for seed in range(first, first + CHUNK)]


def simulate(policy: str) -> list[Hand]:
    """All hands of a policy, on two processes."""
    hands: list[Hand] = []
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        chunks = [pool.submit(play_chunk, policy, first) for first in range(0, HANDS, CHUNK)]
        for chunk in as_completed(chunks):
            hands += chunk.result()
            sys.stderr.write(f"\r{policy}: {len(hands):6,} of {HANDS:,} hands")
            sys.stderr.flush()
    sys.stderr.write("\n")
    return hands


def assert_near(name: str, found: float, row: Row, error: float) -> None:
    """Within four standard errors, and what the table may have rounded away."""
    assert abs(found - row.value) <= MAX_ERRORS * error + row.digit / 2, (
        f"{name}: {found:.4f} instead of {row.value:.4f}, standard error {error:.4f}"
    )


def assert_mean(name: str, found: list[int], row: Row, hands: float) -> None:
    """A mean, the table's own having been taken over so many hands."""
    error = sqrt(pvariance(found) * (1 / len(found) + 1 / hands))
    assert_near(name, fmean(found), row, error)


def assert_ends(hands: list[Hand], expected: Column) -> None:
    """Who wins how often, and how."""
    counts = {
        "void": sum(hand.by_dealer is None for hand in hands),
        "dealer": sum(hand.by_dealer is True for hand in hands),
        "other": sum(hand.by_dealer is False for hand in hands),
    }
    for name, share in expected.shares.items():
        count = counts.get(name, sum(hand.how == name for hand in hands))
        error = sqrt(share * (1 - share) * (1 / HANDS + 1 / expected.hands))
        assert_near(name, count / HANDS, Row(share, 0.001 if share > 0.02 else 0.0001), error)


def assert_length(hands: list[Hand], expected: Column) -> None:
    """How long hands are. Every discard is answered, by a forced pass if by nothing else."""
    both = [hand.turns + hand.discards for hand in hands]
    assert_mean("turns", [hand.turns for hand in hands], expected.turns, expected.hands)
    assert_mean("turns + answers", both, expected.turns_and_answers, expected.hands)
    assert_mean("melds", [hand.melds for hand in hands], expected.melds, expected.hands)
    assert_mean("wall", [hand.wall_left for hand in hands], expected.wall_left, expected.hands)


@pytest.mark.parametrize("policy", TABLE)
def test_twenty_thousand_hands_agree_with_the_table(policy: str) -> None:
    hands, expected = simulate(policy), TABLE[policy]
    won = [hand.points for hand in hands if hand.by_dealer is not None]

    assert_ends(hands, expected)
    assert_length(hands, expected)
    assert_mean("points", won, expected.points, expected.hands * (1 - expected.shares["void"]))
