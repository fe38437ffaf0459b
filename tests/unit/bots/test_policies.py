"""The simple policies (rules document, sections 14 and 15.4)."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from matches.bots.policies import First, Greedy, Policy, Uniform, distinct
from matches.games.protocol import Action, Seat, SeatViewer, Spectator
from tests.support.games import dealt, games, played
from tests.support.xqmj import CHOW, DEALER, OTHER, PASS, WIN, Table, discard, two_player_rules

GAME = games()[0]
RULES = two_player_rules()


def choice(policy: Policy, table: Table, seat: Seat) -> Action:
    view = table.rules.view(table.state, SeatViewer(seat))
    return policy.choose(view, table.legal(seat))


def winning() -> Table:
    """The dealer has a heavenly hand."""
    return Table("rR rH rC rK bK", "rE rE bE bE")


def claimable(other: str) -> Table:
    table = Table("rC bA bA bE bE", other)
    table.discard(DEALER, "rC")
    return table


class TestDistinct:
    def test_counts_both_discards_of_a_kind_once(self) -> None:
        table = Table("rA rR bK bR bC", "rE rH bA bH", "rE")
        table.discard(DEALER, "rR")
        table.let_lie()

        assert distinct(table.legal(OTHER)) == list(map(discard, ("rE", "rH", "bA", "bH")))

    def test_keeps_claims_and_pass(self) -> None:
        assert distinct([WIN, CHOW, PASS]) == [WIN, CHOW, PASS]


class TestUniform:
    def test_chooses_every_action_about_equally_often(self) -> None:
        policy = Uniform(random.Random(5))
        table = claimable("rR rH bP bP")
        counted = Counter(choice(policy, table, OTHER) for _ in range(3000))

        assert set(counted) == {WIN, CHOW, PASS}
        assert min(counted.values()) > 900

    def test_takes_every_win_if_told_so(self) -> None:
        policy = Uniform(random.Random(5), takes_wins=True)

        assert {choice(policy, winning(), DEALER) for _ in range(50)} == {WIN}

    def test_repeats_itself_with_equal_chance(self) -> None:
        table = Table()
        chosen = [
            [choice(Uniform(random.Random(seed)), table, DEALER) for seed in range(20)]
            for _ in range(2)
        ]

        assert chosen[0] == chosen[1]


class TestFirst:
    def test_wins_if_it_can(self) -> None:
        assert choice(First(), winning(), DEALER) == WIN

    def test_discards_the_lowest_kind(self) -> None:
        assert choice(First(), Table("bP rR bK rA bC", "rE rH bA bH"), DEALER) == discard("rA")

    def test_passes_every_meld(self) -> None:
        assert choice(First(), claimable("rR rH bP bK"), OTHER) == PASS


class TestGreedy:
    def test_wins_if_it_can(self) -> None:
        assert choice(Greedy(), winning(), DEALER) == WIN
        assert choice(Greedy(), claimable("rR rH bP bP"), OTHER) == WIN

    def test_keeps_the_four_tiles_that_are_nearest_to_a_win(self) -> None:
        assert choice(Greedy(), Table("rR rH rC rK bA", "rE rE bE bE"), DEALER) == discard("bA")

    def test_claims_what_brings_it_nearer(self) -> None:
        assert choice(Greedy(), claimable("rR rH bP bK"), OTHER) == CHOW

    def test_passes_what_does_not(self) -> None:
        # The sequence is there already: taking the cannon would only expose it.
        assert choice(Greedy(), claimable("rR rH rC bP"), OTHER) == PASS

    @pytest.mark.parametrize("seed", range(20))
    def test_does_not_depend_on_what_it_cannot_see(self, seed: int) -> None:
        """XM-82: with everything hidden dealt anew it does the same."""
        chance = random.Random(seed)
        for step in played(GAME, seed):
            state, seat = step.before, step.before.turn
            legal = RULES.legal(state, seat)
            if legal:
                other = GAME.adapter.reshuffled(state, seat, chance)
                first, second = (
                    Greedy().choose(RULES.view(one, SeatViewer(seat)), legal)
                    for one in (state, other)
                )
                assert first == second

    def test_plays_a_seat_only(self) -> None:
        state = dealt(GAME, random.Random(0))
        with pytest.raises(ValueError, match="seat"):
            Greedy().choose(RULES.view(state, Spectator()), (discard("rA"),))
