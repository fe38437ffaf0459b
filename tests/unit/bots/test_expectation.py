"""What four tiles are worth, and what is done about it (rules document, section 14).

Values are worked out by hand from the formula. Ten tiles are unseen in each
case, so that a tile of which n are unseen is drawn n/10 of the time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator

import pytest

from matches.bots.expectation import Expectation, expectation, look_ahead, warm
from matches.bots.seen import Seen
from matches.games.protocol import Action, Seat, SeatViewer, Spectator
from matches.games.tiles import KINDS, NO_TILES, pack
from matches.games.xqmj.state import HandState
from tests.support.games import games, played
from tests.support.xqmj import CHOW, DEALER, OTHER, PASS, WIN, Table, discard, two_player_rules
from tests.support.xqmj import tiles as listed

GAME = games()[0]
RULES = two_player_rules()

AHEAD = ("rE rR rP rP rP", "bK bA bR bH")
"""A deal in which looking one improvement ahead tells the two singles apart."""


def never() -> bool:
    return False


def seen(unseen: str, *, against_meld: bool = False) -> Seen:
    tiles = listed(unseen)
    assert len(tiles) == 10
    numbers = tuple(tiles.count(kind) for kind in KINDS)
    return Seen(NO_TILES, NO_TILES, numbers, len(tiles), against_meld)


def worth(position: str, unseen: str, *, meld: str = "", against_meld: bool = False) -> float:
    known = seen(unseen, against_meld=against_meld)
    return expectation(known, pack(listed(position)), pack(listed(meld)))


def decisions(seeds: Iterable[int]) -> Iterator[tuple[HandState, Seat, tuple[Action, ...]]]:
    """Whoever has a legal action in some random hands, and what it is."""
    for seed in seeds:
        for step in played(GAME, seed):
            legal = RULES.legal(step.before, step.before.turn)
            if legal:
                yield step.before, step.before.turn, legal


def choice(table: Table, seat: Seat, expired: Callable[[], bool] = never) -> Action:
    view = table.rules.view(table.state, SeatViewer(seat))
    return Expectation(expired).choose(view, table.legal(seat))


class TestWaiting:
    ONE_GENERAL = "bK rA rE bA bE bR bH bC rP bP"

    def test_weighs_both_ways_to_win_against_the_other_seat(self) -> None:
        """Drawn .1 for 5, discarded .08 for 3, lost .14 at 3.3: (.5 + .24 - .462) / .32."""
        assert worth("rR rH rC rK", self.ONE_GENERAL) == pytest.approx(0.86875)

    def test_fears_an_exposed_meld_more(self) -> None:
        """Lost .24 at 3.3: (.5 + .24 - .792) / .42."""
        assert worth("rR rH rC rK", self.ONE_GENERAL, against_meld=True) == pytest.approx(
            -0.1238095, abs=1e-7
        )

    def test_adds_up_two_kinds(self) -> None:
        """Either soldier makes 3: (.5 + .24 + 1.0 + .48 - .462) / (.18 + .36 + .14)."""
        assert worth("rP rP bP bP", "rP bP bP rA rE rR bA bE bR bH") == pytest.approx(
            2.5852941, abs=1e-7
        )

    def test_hopes_for_nothing_that_cannot_come(self) -> None:
        """Without bK it is three tiles away, from rK rA rE + rR rR: -3.3 + .504 * 1 / 100."""
        assert worth("rR rH rC rK", "rA rE bA bE bR bH bC rP bP rR") == pytest.approx(-3.29496)


class TestImprovement:
    def test_is_waited_for_beside_the_win(self) -> None:
        """A better wait.

        For the last bP: (.3 + .08 - .462) / .32 = -.25625. One of two rA taken, one of
        nine is left, for 4 or 2: (.444444 + .177778 - .462) / .34 = .471242.
        Together: (-.082 + .2 * .471242) / .52.
        """
        unseen = "bP rA rA rK rE bA bE bR bH bC"

        assert worth("rR rH rC bP", unseen) == pytest.approx(0.0235546, abs=1e-7)
        assert worth("bP", unseen, meld="rR rH rC") == pytest.approx(0.0235546, abs=1e-7)

    def test_is_left_alone_where_waiting_is_better(self) -> None:
        """Two bP: (.6 + .16 - .462) / .5 = .596; rA would be worth .471242 as above."""
        assert worth("rR rH rC bP", "bP bP rA rA rK rE bA bE bR bH") == pytest.approx(0.596)

    def test_is_left_alone_where_a_better_one_makes_up_for_it(self) -> None:
        """Two bA, for 3 or 1: (.333333 + .088889 - .462) / .34 = -.116993.

        That is more than waiting for the last bP, and less than that with rA.
        """
        unseen = "bP rA rA bA bA rK rE bE bR bH"

        assert worth("rR rH rC bP", unseen) == pytest.approx(0.0235546, abs=1e-7)

    def test_comes_more_often_where_it_can_be_claimed(self) -> None:
        """A chow, and a soldier that only a draw can bring.

        rC at .18, then two of nine bP: (.666667 + .177778 - .462) / .54 = .708230.
        bP at .2, then one of nine rC: (.333333 + .088889 - .462) / .34 = -.116993.
        Chow first: (-.462 + .18 * .708230) / .32 = -1.045, so the soldier helps:
        (-.334519 - .2 * .116993) / .52.
        """
        unseen = "rC bP bP rK rE bE bR bH bC rP"

        assert worth("rR rH bP bA", unseen) == pytest.approx(-0.6883023, abs=1e-7)


class TestFarPosition:
    def test_counts_the_ways_to_three_tiles(self) -> None:
        """rK rE and rR or bE: 1 * 2 * 1 ways each, 4 in all: -3.3 + .504 * 4 / 100."""
        assert worth("rA rR bE bH", "rK rE rE rR bE rP rP rP rC rC") == pytest.approx(-3.27984)

    def test_takes_a_dead_hand_two_tiles_away_for_farther(self) -> None:
        """rE and two of three rP in order: 6, rE and both rC: 2; -3.3 + .504 * 8 / 100.

        With a bE or bH it would be two tiles away, but neither can come.
        """
        unseen = "rE rP rP rP rC rC rR bR bC bP"

        assert worth("rK rA bE bH", unseen) == pytest.approx(-3.25968)

    def test_is_a_loss_four_tiles_away(self) -> None:
        assert worth("rA rR bE bH", "rP rP rP rP rP bP bP bP bP bP") == pytest.approx(-3.3)


class TestExpectation:
    def test_wins_if_it_can(self) -> None:
        assert choice(Table("rR rH rC rK bK", "rE rE bE bE"), DEALER) == WIN

    def test_wins_on_a_discard_that_it_could_chow(self) -> None:
        table = Table("rC bA bA bE bE", "rR rH bP bP")
        table.discard(DEALER, "rC")

        assert choice(table, OTHER) == WIN

    def test_claims_what_is_worth_more(self) -> None:
        table = Table("rC bA bA bE bE", "rR rH bP bK")
        table.discard(DEALER, "rC")

        assert choice(table, OTHER) == CHOW

    def test_passes_what_is_not(self) -> None:
        table = Table("rC bA bA bE bE", "rR rH rC bP")
        table.discard(DEALER, "rC")

        assert choice(table, OTHER) == PASS

    def test_discards_the_lowest_of_equal_kinds(self) -> None:
        """rA and rE, both twice unseen beside the held one, score the same; so do bA and bE."""
        assert choice(Table("rR rH rC rA rE", "bK bA bR bH"), DEALER) == discard("rA")
        assert choice(Table("rR rH rC bA bE", "bK rA bR bH"), DEALER) == discard("bA")

    def test_takes_values_for_equal_whose_sums_were_rounded_differently(self) -> None:
        """In fractions both are -2,674,801 / 1,757,970; plain sums are 2 in 10 ** 16 apart."""
        numbers = (1, 1, 2, 1, 1, 1, 2, 0, 2, 0, 1, 1, 2, 4)
        known = Seen(NO_TILES, NO_TILES, numbers, sum(numbers), against_meld=False)

        red_chariot, red_soldier = (
            expectation(known, pack(listed(position)), NO_TILES)
            for position in ("rR bE bE bR", "rP bE bE bR")
        )

        assert red_chariot == red_soldier
        assert red_soldier == pytest.approx(-2_674_801 / 1_757_970)

    def test_looks_one_improvement_ahead(self) -> None:
        """Both singles wait alike; but rK rA would make 3 with rE and the soldiers, rH rC 2."""
        assert choice(Table(*AHEAD), DEALER) == discard("rR")

    def test_plays_a_seat_only(self) -> None:
        view = RULES.view(Table().state, Spectator())

        with pytest.raises(ValueError, match="seat"):
            Expectation(never).choose(view, (discard("rA"),))

    @pytest.mark.parametrize("seed", range(20))
    def test_does_not_depend_on_what_it_cannot_see(self, seed: int) -> None:
        """XM-82: with everything hidden dealt anew it does the same."""
        chance = random.Random(seed)
        for state, seat, legal in decisions([seed]):
            other = GAME.adapter.reshuffled(state, seat, chance)
            first, second = (
                Expectation(never).choose(RULES.view(one, SeatViewer(seat)), legal)
                for one in (state, other)
            )
            assert first == second


class TestLimit:
    def test_lets_greedy_decide_where_no_time_is_left(self) -> None:
        """XM-85: greedy sees that both singles wait alike, and no farther."""
        assert choice(Table(*AHEAD), DEALER, lambda: True) == discard("rE")

    def test_ends_the_weighing_of_positions(self) -> None:
        """Of three distinct discards the first is weighed, then the time is up."""
        answers = iter([False, True])

        assert choice(Table(*AHEAD), DEALER, lambda: next(answers)) == discard("rE")
        assert list(answers) == []

    def test_takes_no_win_away(self) -> None:
        assert choice(Table("rR rH rC rK bK", "rE rE bE bE"), DEALER, lambda: True) == WIN


class TestTables:
    def test_are_built_before_the_first_decision(self) -> None:
        warm()
        before = look_ahead.cache_info().misses

        for state, seat, legal in decisions(range(40)):
            Expectation(never).choose(RULES.view(state, SeatViewer(seat)), legal)

        assert look_ahead.cache_info().misses == before
