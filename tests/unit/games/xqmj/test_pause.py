"""What the rules say about the pause and the clock (XM-34 to XM-40, XM-64 to XM-66).

The instants themselves are the match's business; here it is who is waited for.
"""

from __future__ import annotations

from matches.games.protocol import Timing
from matches.games.xqmj.events import EVENTS, TileDiscarded
from tests.support.xqmj import CHOW, DEALER, OTHER, PASS, WIN, Table, facts, two_player_rules

RULES = two_player_rules()


def timing(table: Table) -> Timing:
    return table.rules.timing(table.state)


def claimable() -> Table:
    table = Table("rC bA bA bE bE", "rR rH bP bK", "rP")
    table.discard(DEALER, "rC")
    return table


def unclaimable() -> Table:
    table = Table("rC bA bA bE bE", "rR bH bP bK", "rP")
    table.discard(DEALER, "rC")
    return table


class TestPause:
    def test_follows_every_discard_and_nothing_else(self) -> None:
        """XM-34."""
        assert RULES.pause_ms == 1500
        assert RULES.pausing == {TileDiscarded}

    def test_gives_the_increment_for_discards_only(self) -> None:
        """XM-66."""
        assert RULES.crediting == {TileDiscarded}
        assert set(EVENTS) > RULES.crediting


class TestOpening:
    def test_runs_on_the_dealers_clock(self) -> None:
        """XM-64."""
        assert timing(Table()) == Timing(DEALER, table=False)


class TestOffer:
    def test_puts_the_responder_on_the_clock_in_every_case(self) -> None:
        """XM-35: equal outside appearance."""
        passed = claimable()
        passed.do(OTHER, PASS)

        assert [timing(table).clock for table in (claimable(), unclaimable(), passed)] == [
            OTHER,
            OTHER,
            OTHER,
        ]

    def test_leaves_the_choice_open_where_a_claim_is_possible(self) -> None:
        """XM-37, XM-40."""
        assert timing(claimable()).table is False
        assert claimable().rules.table(claimable().state) == ()

    def test_is_gone_on_from_by_the_table_where_no_claim_is_possible(self) -> None:
        """XM-39."""
        table = unclaimable()

        assert table.legal(OTHER) == ()
        assert timing(table).table is True
        assert facts(table.table()) == {"kind": "xqmj.tile_drawn"}

    def test_has_nothing_to_pass_where_no_claim_is_possible(self) -> None:
        """XM-39."""
        assert unclaimable().refusal(OTHER, PASS) == ("no_claim_to_answer", "XM-39")

    def test_takes_a_claim_at_once(self) -> None:
        """XM-36, XM-37."""
        table = claimable()
        table.do(OTHER, CHOW)

        assert timing(table) == Timing(OTHER, table=False)


class TestPass:
    def test_is_recorded_and_leaves_the_draw_to_the_table(self) -> None:
        """XM-38."""
        table = claimable()
        event = table.do(OTHER, PASS)

        assert facts(event) == {"kind": "xqmj.claim_passed"}
        assert timing(table) == Timing(OTHER, table=True)
        assert facts(table.table()) == {"kind": "xqmj.tile_drawn"}

    def test_is_final(self) -> None:
        """XM-38."""
        table = claimable()
        table.do(OTHER, PASS)

        assert table.legal(OTHER) == ()
        for action in (WIN, CHOW, PASS):
            assert table.refusal(OTHER, action) == ("already_passed", "XM-38")

    def test_keeps_the_responder_on_the_clock_after_the_draw(self) -> None:
        """XM-40."""
        table = claimable()
        table.do(OTHER, PASS)
        table.table()

        assert timing(table) == Timing(OTHER, table=False)


class TestEmptyWall:
    def winnable(self) -> Table:
        table = Table("rA rR rH bP bP", "rE rE bE bE", last="rC")
        table.discard(DEALER, "rA")
        table.idle(wall_left=0)
        return table

    def test_leaves_a_possible_win_open(self) -> None:
        """XM-34, last row of the table of section 6."""
        assert timing(self.winnable()) == Timing(DEALER, table=False)

    def test_voids_the_hand_after_a_pass(self) -> None:
        table = self.winnable()
        table.do(DEALER, PASS)

        assert timing(table) == Timing(DEALER, table=True)
        assert facts(table.table()) == {"kind": "xqmj.hand_voided"}

    def test_voids_the_hand_where_nothing_can_be_won(self) -> None:
        table = Table("rA rR rH bA bK", "rE rE bE bE", last="rC")
        table.discard(DEALER, "rA")
        table.idle(wall_left=0)

        assert timing(table) == Timing(DEALER, table=True)
        assert facts(table.table()) == {"kind": "xqmj.hand_voided"}


class TestEnd:
    def test_stops_the_clocks(self) -> None:
        """XM-63."""
        table = Table("rR rH rC rK bK", "rE rE bE bE")
        table.do(DEALER, WIN)

        assert timing(table) == Timing(None, table=False)
