"""The deal (XM-12 to XM-16)."""

from __future__ import annotations

import pytest

from matches.games.protocol import Auditor, HandOutcome, Seat, SeatViewer
from matches.games.xqmj.pieces import DECK_32
from tests.support.xqmj import order, tiles, two_player_rules

RULES = two_player_rules()
ORDER = order("rA rR bK bR bC", "rE rH bA bH", "rP bP rC")


class TestDeal:
    @pytest.mark.parametrize("dealer", [Seat(0), Seat(1)])
    def test_gives_five_to_the_dealer_four_to_the_other_and_leaves_23(self, dealer: Seat) -> None:
        """XM-15."""
        view = RULES.view(RULES.deal(ORDER, dealer), Auditor())

        assert view.dealer == dealer
        assert view.sides[dealer].concealed == tiles("rA rR bK bR bC")
        assert view.sides[1 - dealer].concealed == tiles("rE rH bA bH")
        assert view.wall_left == 23
        assert view.wall == ORDER[9:]
        assert ORDER[9:12] == tiles("rP bP rC")

    def test_has_no_drawn_tile(self) -> None:
        """XM-17, XM-22."""
        view = RULES.view(RULES.deal(ORDER, Seat(0)), Auditor())

        assert [side.drawn for side in view.sides] == [None, None]
        assert (view.stage, view.turn) == ("opening", 0)

    def test_sorts_what_a_seat_sees_of_its_tiles(self) -> None:
        """XM-3, XM-75: the order in which tiles were dealt is lost."""
        state = RULES.deal(order("bC rA bK rR bR", "bH rE bA rH"), Seat(0))

        dealer = RULES.view(state, SeatViewer(Seat(0)))
        other = RULES.view(state, SeatViewer(Seat(1)))

        assert dealer.sides[0].concealed == tiles("rA rR bK bR bC")
        assert other.sides[1].concealed == tiles("rE rH bA bH")

    def test_takes_any_order_of_the_deck(self) -> None:
        """XM-14."""
        assert RULES.deal(DECK_32, Seat(0)).wall_left == 23
        assert RULES.deal(DECK_32[::-1], Seat(1)).wall_left == 23


class TestDealer:
    @pytest.mark.parametrize("drawn", [Seat(0), Seat(1)])
    def test_of_hand_1_is_the_seat_that_was_drawn(self, drawn: Seat) -> None:
        """XM-12."""
        assert RULES.first_dealer(drawn) == drawn

    @pytest.mark.parametrize(
        "outcome",
        [
            HandOutcome("self_draw", Seat(0), (3, 0)),
            HandOutcome("discard", Seat(1), (0, 3)),
            HandOutcome("void", None, (0, 0)),
        ],
    )
    @pytest.mark.parametrize("first", [Seat(0), Seat(1)])
    def test_alternates_through_six_hands_whatever_the_results(
        self, first: Seat, outcome: HandOutcome
    ) -> None:
        """XM-13, XM-58."""
        dealers: list[Seat] = []
        dealer: Seat | None = RULES.first_dealer(first)
        while dealer is not None:
            dealers.append(dealer)
            dealer = RULES.next_hand(len(dealers), dealer, outcome).dealer

        assert dealers == [first, 1 - first] * 3


class TestControls:
    def test_are_four_of_which_three_may_be_rated(self) -> None:
        """XM-62, XM-72, XM-73."""
        assert RULES.controls == ("1+1", "3+2", "5+5", "10+5")
        assert RULES.rated_controls == {"1+1", "3+2", "5+5"}
