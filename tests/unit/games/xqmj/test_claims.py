"""Claims on a discard (XM-25 to XM-33)."""

from __future__ import annotations

import pytest

from matches.games.melds import Meld
from tests.support.games import games, played
from tests.support.xqmj import CHOW, DEALER, OTHER, PASS, PUNG, WIN, Table, discard, facts, tiles

GAME = games()[0]


def offered(tile: str, other: str, **more: str) -> Table:
    """The dealer's opening discard `tile` lies before the other seat."""
    rest = more.get("dealer", "bA bA bE bE")
    table = Table(f"{tile} {rest}", other)
    table.discard(DEALER, tile)
    return table


class TestClaim:
    def test_is_open_to_the_responder_only(self) -> None:
        """XM-25."""
        table = offered("rC", "rR rH bP bK")

        assert table.rules.to_act(table.state) == {OTHER}
        assert table.legal(DEALER) == ()
        for action in (WIN, CHOW, PUNG, PASS, discard("bA")):
            assert table.refusal(DEALER, action) == ("not_your_turn", "XM-25")

    def test_takes_the_last_discard_only(self) -> None:
        """XM-25: an older discard that would fit stays where it lies."""
        table = Table("rC bA bA bE bE", "rR rH bP bK", "rP bC")
        table.discard(DEALER, "rC")
        table.do(OTHER, PASS)
        table.table()
        table.discard(OTHER, "rP", drawn=True)
        table.let_lie()
        table.discard(DEALER, "bC", drawn=True)

        assert table.legal(OTHER) == ()
        assert table.refusal(OTHER, CHOW) == ("claim_not_possible", "XM-27")

    def test_must_be_answered_before_discarding(self) -> None:
        """XM-18."""
        table = offered("rC", "rR rH bP bK")

        assert table.refusal(OTHER, discard("bP")) == ("not_your_turn", "XM-18")

    def test_takes_the_tile_out_of_the_discard_row_and_exposes_the_meld(self) -> None:
        """XM-29."""
        table = offered("rC", "rR rH bP bK")
        table.do(OTHER, CHOW)

        dealer, other = table.sides()
        assert dealer.discards == ()
        assert other.meld == Meld("sequence", tiles("rR rH rC"))
        assert (other.concealed, other.held) == (tiles("bK bP"), 2)

    def test_leaves_older_discards_in_the_row(self) -> None:
        """XM-29."""
        table = Table("rA rC bA bE bE", "rR rH bP bK", "bR rP")
        table.discard(DEALER, "rA")
        table.let_lie()
        table.discard(OTHER, "bR", drawn=True)
        table.let_lie()
        table.discard(DEALER, "rC")
        table.do(OTHER, CHOW)

        dealer, other = table.sides()
        assert [row.tile for row in dealer.discards] == ["rA"]
        assert [row.tile for row in other.discards] == ["bR"]


class TestWinOnADiscard:
    def test_takes_the_discard_as_the_fifth_tile(self) -> None:
        """XM-26."""
        table = offered("rC", "rR rH bP bP")
        event = table.do(OTHER, WIN)

        assert facts(event) == {
            "kind": "xqmj.hand_won",
            "seat": 1,
            "how": "discard",
            "tiles": tiles("rR rH rC bP bP"),
            "lines": ({"key": "win", "points": 1},),
            "points": 1,
        }
        assert table.sides()[DEALER].discards == ()

    def test_may_complete_a_pair(self) -> None:
        """XM-26: chow and pung may not."""
        table = offered("bP", "rR rH rC bP")

        assert table.legal(OTHER) == (WIN, PASS)
        assert table.refusal(OTHER, PUNG) == ("claim_not_possible", "XM-28")

    def test_may_complete_the_generals_pair(self) -> None:
        """XM-8, XM-26."""
        assert offered("bK", "rR rH rC rK").legal(OTHER) == (WIN, PASS)

    def test_counts_the_exposed_meld(self) -> None:
        """XM-9, XM-31."""
        table = Table("rC bP bA bE bK", "rR rH bP rP")
        table.discard(DEALER, "rC")
        table.do(OTHER, CHOW)
        table.discard(OTHER, "rP")
        table.let_lie()
        table.discard(DEALER, "bP")

        assert table.legal(OTHER) == (WIN, PASS)
        assert facts(table.do(OTHER, WIN))["tiles"] == tiles("rR rH rC bP bP")

    def test_is_refused_when_the_five_do_not_win(self) -> None:
        """XM-26."""
        assert offered("rC", "rR rH bP bK").refusal(OTHER, WIN) == ("win_not_possible", "XM-26")

    def test_may_be_passed_and_won_later(self) -> None:
        """XM-24: no later restriction."""
        table = Table("rC rC bA bE bE", "rR rH bP bP", "bK rA")
        table.discard(DEALER, "rC")
        table.do(OTHER, PASS)
        table.table()
        table.discard(OTHER, "bK", drawn=True)
        table.let_lie()
        table.discard(DEALER, "rC")

        assert WIN in table.legal(OTHER)


class TestChow:
    @pytest.mark.parametrize(
        ("tile", "other", "meld"),
        [
            ("rC", "rR rH bP bK", "rR rH rC"),
            ("rR", "rH rC bP bK", "rR rH rC"),
            ("bH", "bR bC rP rK", "bR bH bC"),
            ("rA", "rK rE bP bR", "rK rA rE"),
            ("bK", "bA bE rP rR", "bK bA bE"),
        ],
    )
    def test_completes_a_sequence_with_two_concealed_tiles(
        self, tile: str, other: str, meld: str
    ) -> None:
        """XM-27; a General may be taken too."""
        rest = "bP bP rP rP" if tile == "bK" else "bA bA bE bE"
        table = offered(tile, other, dealer=rest)

        assert table.legal(OTHER) == (CHOW, PASS)
        assert facts(table.do(OTHER, CHOW)) == {"kind": "xqmj.chow_made", "tile": tile}
        assert table.melded(OTHER) == tiles(meld)

    @pytest.mark.parametrize("other", ["rR bP bK rK", "bR bH rP rK", "rR rR bP bK", "rA rE bP bK"])
    def test_needs_both_other_tiles_of_the_sequence(self, other: str) -> None:
        """XM-27."""
        table = offered("rC", other)

        assert table.legal(OTHER) == ()
        assert table.refusal(OTHER, CHOW) == ("claim_not_possible", "XM-27")

    def test_does_not_take_a_soldier(self) -> None:
        """XM-4."""
        table = offered("bP", "bP bP rA rE")

        assert table.refusal(OTHER, CHOW) == ("claim_not_possible", "XM-27")

    def test_is_followed_by_a_discard_without_a_draw(self) -> None:
        """XM-30."""
        table = offered("rC", "rR rH bE bP", dealer="bA bA bE bK")
        table.do(OTHER, CHOW)

        assert table.legal(OTHER) == (discard("bE"), discard("bP"))
        assert table.state.wall_left == 23
        assert table.rules.timing(table.state).table is False

    def test_lets_a_tile_of_the_claimed_kind_go(self) -> None:
        """XM-30."""
        table = offered("rC", "rR rH rC bP")
        table.do(OTHER, CHOW)

        assert facts(table.discard(OTHER, "rC")) == {
            "kind": "xqmj.tile_discarded",
            "tile": "rC",
            "drawn": False,
        }


class TestPung:
    @pytest.mark.parametrize("tile", ["rP", "bP"])
    def test_takes_a_soldier_with_two_concealed(self, tile: str) -> None:
        """XM-28."""
        table = offered(tile, f"{tile} {tile} rA bR")

        assert table.legal(OTHER) == (PUNG, PASS)
        assert facts(table.do(OTHER, PUNG)) == {"kind": "xqmj.pung_made", "tile": tile}

    def test_uses_exactly_two(self) -> None:
        """XM-28: further soldiers stay concealed."""
        table = offered("rP", "rP rP rP rP")
        table.do(OTHER, PUNG)

        assert table.sides()[OTHER].concealed == tiles("rP rP")
        assert table.melded(OTHER) == tiles("rP rP rP")

    def test_needs_two_of_the_same_colour(self) -> None:
        """XM-6, XM-28."""
        table = offered("rP", "rP bP bP rA")

        assert table.legal(OTHER) == ()
        assert table.refusal(OTHER, PUNG) == ("claim_not_possible", "XM-28")

    def test_takes_nothing_but_soldiers(self) -> None:
        """XM-5: no other kind has three copies."""
        table = offered("rR", "rR rH rC bP")

        assert table.legal(OTHER) == (CHOW, PASS)
        assert table.refusal(OTHER, PUNG) == ("claim_not_possible", "XM-28")

    def test_of_four_is_a_kong_and_there_is_none(self) -> None:
        """XM-11: an exposed triplet never grows."""
        table = offered("rP", "rP rP rP rA")
        table.do(OTHER, PUNG)

        assert table.legal(OTHER) == (discard("rA"), discard("rP"))


class TestSecondMeld:
    def table(self, dealer: str, other: str, wall: str = "") -> Table:
        """The other seat has chowed rR rH rC; it discards next."""
        table = Table(dealer, other, wall)
        table.discard(DEALER, "rC")
        table.do(OTHER, CHOW)
        return table

    def test_is_refused(self) -> None:
        """XM-31: one exposed meld a seat and hand."""
        table = self.table("rC bH bP bE bK", "rR rH bR rA")
        table.discard(OTHER, "rA")
        table.let_lie()
        table.discard(DEALER, "bH")

        assert table.legal(OTHER) == ()
        assert table.refusal(OTHER, CHOW) == ("claim_not_possible", "XM-31")
        assert table.refusal(OTHER, PUNG) == ("claim_not_possible", "XM-31")

    def test_is_never_legal(self) -> None:
        """XM-31: a seat with a meld can only win or pass."""
        answered = [
            GAME.rules.legal(step.after, step.after.turn)
            for seed in range(150)
            for step in played(GAME, seed, hasty=0.8)
            if step.after.phase == "offer" and step.after.melds[step.after.turn]
        ]

        assert set(answered) == {(), (WIN, PASS)}

    def test_does_not_stop_a_win(self) -> None:
        """XM-31: such a seat may still claim a win."""
        table = self.table("rC bP bA bE bK", "rR rH bP bP")
        table.discard(OTHER, "bP")
        table.let_lie()
        table.discard(DEALER, "bP")

        assert table.legal(OTHER) == (WIN, PASS)

    def test_is_each_seats_own_matter(self) -> None:
        """XM-31: the other seat's meld does not count."""
        table = self.table("rC bR bH bE rA", "rR rH bC rP")
        table.discard(OTHER, "bC")

        assert table.legal(DEALER) == (CHOW, PASS)


class TestChoiceOfClaims:
    def test_is_free_where_win_and_meld_are_both_possible(self) -> None:
        """XM-32."""
        assert offered("rC", "rR rH bP bP").legal(OTHER) == (WIN, CHOW, PASS)
        assert offered("rP", "rP rP rA rA").legal(OTHER) == (WIN, PUNG, PASS)

    def test_leaves_only_a_discard_after_the_meld(self) -> None:
        """XM-32."""
        table = offered("rP", "rP rP rA rA")
        table.do(OTHER, PUNG)

        assert table.legal(OTHER) == (discard("rA"),)
        assert table.refusal(OTHER, PASS) == ("claim_window_over", "XM-25")


class TestLastDiscard:
    def test_may_be_won(self) -> None:
        """XM-33."""
        # The other seat takes the last draw (XM-43), so its discard lies before the dealer.
        table = Table("rA rR rH bP bP", "rE rE bE bE", last="rC")
        table.discard(DEALER, "rA")
        table.idle(wall_left=0)

        assert (table.state.turn, table.state.offered) == (DEALER, "rC")
        assert table.legal(DEALER) == (WIN, PASS)
        assert table.refusal(DEALER, CHOW) == ("claim_not_possible", "XM-33")

    def test_may_not_be_taken_for_a_meld(self) -> None:
        """XM-33."""
        table = Table("rA rR rH bA bK", "rE rE bE bE", last="rC")
        table.discard(DEALER, "rA")
        table.idle(wall_left=0)

        assert table.legal(DEALER) == ()
        assert table.refusal(DEALER, CHOW) == ("claim_not_possible", "XM-33")
        assert table.refusal(DEALER, PUNG) == ("claim_not_possible", "XM-33")
        assert facts(table.table()) == {"kind": "xqmj.hand_voided"}

    def test_may_be_taken_for_a_meld_where_the_option_says_so(self) -> None:
        """XM-33, `last_discard_claims = all`."""
        table = Table(
            "rA rR rH bA bK",
            "rE rE bE bE",
            last="rC",
            options={"last_discard_claims": "all"},
        )
        table.discard(DEALER, "rA")
        table.idle(wall_left=0)
        assert table.legal(DEALER) == (CHOW, PASS)

        table.do(DEALER, CHOW)
        table.discard(DEALER, "bA")

        assert facts(table.let_lie()) == {"kind": "xqmj.hand_voided"}

    def test_but_one_is_claimed_as_any_other(self) -> None:
        """XM-33: with one tile left in the wall nothing is special."""
        table = Table("rA rE rE bE bE", "rR rH bA bK", last="rC bP")
        table.discard(DEALER, "rA")
        table.idle(wall_left=1)

        assert (table.state.turn, table.state.offered) == (OTHER, "rC")
        assert table.legal(OTHER) == (CHOW, PASS)
