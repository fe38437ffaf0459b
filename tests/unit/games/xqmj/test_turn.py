"""Turns: opening, draws, discards, self-draw (XM-17 to XM-24)."""

from __future__ import annotations

from tests.support.xqmj import CHOW, DEALER, OTHER, PASS, PUNG, WIN, Table, discard, facts, tiles


def drawn_table(first_draw: str, *, other: str = "rE rH bA bH") -> Table:
    """The dealer has discarded its rR; the other seat has drawn."""
    table = Table("rA rR bK bR bC", other, first_draw)
    table.discard(DEALER, "rR")
    table.let_lie()
    return table


class TestOpening:
    def test_lets_the_dealer_discard_any_of_the_five_without_drawing(self) -> None:
        """XM-17."""
        table = Table("rA rA bK bR bC", "rE rH bA bH")

        assert table.legal(DEALER) == tuple(map(discard, ("rA", "bK", "bR", "bC")))
        assert table.legal(OTHER) == ()

    def test_has_no_drawn_tile_to_discard(self) -> None:
        """XM-22."""
        table = Table()

        assert table.refusal(DEALER, discard("rA", drawn=True)) == ("drawn_mismatch", "XM-21")

    def test_leaves_the_dealer_four_tiles(self) -> None:
        """XM-19."""
        table = Table()
        event = table.discard(DEALER, "bR")

        assert facts(event) == {"kind": "xqmj.tile_discarded", "tile": "bR", "drawn": False}
        assert [side.held for side in table.sides()] == [4, 4]


class TestDraw:
    def test_is_done_by_the_table_and_takes_the_next_wall_tile(self) -> None:
        """XM-18, XM-20."""
        table = Table(wall="rP bE")
        table.discard(DEALER, "rR")

        event = table.table()

        assert facts(event) == {"kind": "xqmj.tile_drawn"}
        assert (table.state.turn, table.state.drawn, table.state.wall_left) == (OTHER, "rP", 22)

    def test_goes_through_the_wall_in_order(self) -> None:
        """XM-15."""
        table = Table(wall="rP bE rA")
        drawn = []
        table.discard(DEALER, "rR")
        for seat in (OTHER, DEALER, OTHER):
            table.let_lie()
            drawn.append(table.state.drawn)
            table.discard(seat, str(table.state.drawn), drawn=True)

        assert drawn == ["rP", "bE", "rA"]

    def test_takes_the_drawn_tile_into_the_hand_when_another_is_discarded(self) -> None:
        """XM-18, XM-19."""
        table = drawn_table("rP")
        table.discard(OTHER, "bA")

        side = table.sides()[OTHER]
        assert (side.concealed, side.drawn) == (tiles("rE rH rP bH"), None)


class TestDiscard:
    def test_says_whether_the_tile_was_the_one_just_drawn(self) -> None:
        """XM-21, XM-22."""
        table = drawn_table("rP")
        event = table.discard(OTHER, "rP", drawn=True)

        assert facts(event) == {"kind": "xqmj.tile_discarded", "tile": "rP", "drawn": True}

    def test_lists_the_drawn_kind_once_when_it_was_not_held(self) -> None:
        """XM-21."""
        table = drawn_table("rP")

        assert table.legal(OTHER) == (
            discard("rE"),
            discard("rH"),
            discard("rP", drawn=True),
            discard("bA"),
            discard("bH"),
        )

    def test_lists_the_drawn_kind_twice_when_it_was_also_held(self) -> None:
        """XM-21: which of the two goes is a choice, and the other seat sees it."""
        table = drawn_table("rE")

        assert table.legal(OTHER) == (
            discard("rE"),
            discard("rE", drawn=True),
            discard("rH"),
            discard("bA"),
            discard("bH"),
        )

    def test_leaves_the_same_tiles_whichever_copy_goes(self) -> None:
        """XM-2, XM-21."""
        shaded, plain = drawn_table("rE"), drawn_table("rE")
        shaded.discard(OTHER, "rE", drawn=True)
        plain.discard(OTHER, "rE")

        assert shaded.state.concealed == plain.state.concealed
        assert shaded.state.discards != plain.state.discards

    def test_is_refused_if_the_tile_is_not_there(self) -> None:
        """XM-21."""
        table = drawn_table("rP")

        assert table.refusal(OTHER, discard("rC")) == ("tile_not_held", "XM-21")
        assert table.refusal(OTHER, discard("rC", drawn=True)) == ("tile_not_held", "XM-21")

    def test_is_refused_if_drawn_is_wrong(self) -> None:
        """XM-21."""
        table = drawn_table("rP")

        assert table.refusal(OTHER, discard("rP")) == ("drawn_mismatch", "XM-21")
        assert table.refusal(OTHER, discard("bA", drawn=True)) == ("drawn_mismatch", "XM-21")

    def test_keeps_the_shading_of_each_discard_in_its_row(self) -> None:
        """XM-22."""
        table = drawn_table("rP")
        table.discard(OTHER, "rP", drawn=True)
        table.let_lie()
        table.discard(DEALER, "bC")
        table.let_lie()
        table.discard(OTHER, "bA")

        rows = [[(row.tile, row.drawn) for row in side.discards] for side in table.sides()]
        assert rows == [[("rR", False), ("bC", False)], [("rP", True), ("bA", False)]]


class TestTurn:
    def test_belongs_to_one_seat(self) -> None:
        """XM-18."""
        table = drawn_table("rP")

        assert table.rules.to_act(table.state) == {OTHER}
        for action in (discard("rA"), discard("rC"), WIN, CHOW, PUNG, PASS):
            assert table.refusal(DEALER, action) == ("not_your_turn", "XM-25")

    def test_offers_no_claims_after_the_draw(self) -> None:
        """XM-25."""
        table = drawn_table("rP")

        for action in (CHOW, PUNG, PASS):
            assert table.refusal(OTHER, action) == ("claim_window_over", "XM-25")

    def test_offers_no_claims_at_the_opening(self) -> None:
        table = Table()

        for action in (CHOW, PUNG, PASS):
            assert table.refusal(DEALER, action) == ("claim_window_over", "XM-25")


class TestSelfDraw:
    def second_draw(self) -> Table:
        """The dealer waits for bK with rR rH rC rK and draws it on its first draw."""
        table = Table("rR rH rC rK bR", "rE rH bA bH", "rP bK")
        table.discard(DEALER, "bR")
        table.let_lie()
        table.discard(OTHER, "rP", drawn=True)
        table.let_lie()
        return table

    def test_is_legal_right_after_the_own_draw(self) -> None:
        """XM-23."""
        assert self.second_draw().legal(DEALER)[0] == WIN

    def test_need_not_be_declared(self) -> None:
        """XM-24: declining has no consequence."""
        table = self.second_draw()
        table.discard(DEALER, "bK", drawn=True)
        table.let_lie()
        assert table.state.turn == OTHER

        table = self.second_draw()
        table.discard(DEALER, "rK")

        assert table.state.phase == "offer"

    def test_is_refused_when_the_five_do_not_win(self) -> None:
        """XM-9."""
        assert drawn_table("rP").refusal(OTHER, WIN) == ("win_not_possible", "XM-9")
        assert Table().refusal(DEALER, WIN) == ("win_not_possible", "XM-9")

    def test_is_not_legal_after_a_chow(self) -> None:
        """XM-23: five winning tiles after a meld are discarded from all the same."""
        table = Table("rC rA rE bA bH", "rR rH bP bP")
        table.discard(DEALER, "rC")
        table.do(OTHER, CHOW)

        assert table.legal(OTHER) == (discard("bP"),)
        assert table.refusal(OTHER, WIN) == ("win_not_possible", "XM-23")
