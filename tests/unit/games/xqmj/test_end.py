"""How a hand ends (XM-41 to XM-43) and heavenly hands (XM-44 to XM-49)."""

from __future__ import annotations

from matches.games.protocol import HandOutcome
from matches.games.xqmj.events import ChowMade, PungMade, TileDiscarded, TileDrawn
from tests.support.games import games, played
from tests.support.xqmj import CHOW, DEALER, OTHER, PASS, PUNG, WIN, Table, discard, facts, tiles

GAMES = games()


def outcome(table: Table) -> HandOutcome | None:
    return table.rules.outcome(table.state)


class TestHand:
    def test_has_no_outcome_while_it_is_played(self) -> None:
        table = Table()
        assert outcome(table) is None

        table.discard(DEALER, "rA")
        assert outcome(table) is None

    def test_ends_by_self_draw(self) -> None:
        """XM-41; the example of section 15.3."""
        table = Table("rR rH rC rK bR", "rE rH bA bH", "rP bK")
        table.discard(DEALER, "bR")
        table.let_lie()
        table.discard(OTHER, "rP", drawn=True)
        table.let_lie()
        event = table.do(DEALER, WIN)

        assert facts(event) == {
            "kind": "xqmj.hand_won",
            "seat": 0,
            "how": "self_draw",
            "tiles": tiles("rK rR rH rC bK"),
            "lines": (
                {"key": "win", "points": 1},
                {"key": "generals_pair", "points": 2},
                {"key": "self_draw", "points": 2},
            ),
            "points": 5,
        }
        assert outcome(table) == HandOutcome("self_draw", DEALER, (5, 0))

    def test_ends_by_a_win_on_a_discard(self) -> None:
        """XM-41, XM-50: only the winner's score changes."""
        table = Table("rC bA bE bH bC", "rR rH bP bP")
        table.discard(DEALER, "rC")
        table.do(OTHER, WIN)

        assert outcome(table) == HandOutcome("discard", OTHER, (0, 1))

    def test_is_void_when_the_wall_is_empty_and_the_last_discard_is_not_won(self) -> None:
        """XM-42."""
        table = Table("rA rR rH bA bK", "rE rE bE bE")
        table.idle(wall_left=0)
        assert outcome(table) is None
        table.let_lie()

        assert outcome(table) == HandOutcome("void", None, (0, 0))

    def test_takes_no_action_after_its_end(self) -> None:
        table = Table("rR rH rC rK bK", "rE rE bE bE")
        table.do(DEALER, WIN)

        for seat in (DEALER, OTHER):
            assert table.legal(seat) == ()
            for action in (WIN, CHOW, PUNG, PASS, discard("rE"), discard("rK", drawn=True)):
                assert table.refusal(seat, action) == ("hand_over", "XM-41")
        assert table.rules.table(table.state) == ()


class TestLength:
    def test_is_bounded_by_23_draws_2_melds_and_26_discards(self) -> None:
        """XM-43, for every option."""
        for game in GAMES:
            for seed in range(200):
                kinds = [type(step.event) for step in played(game, seed, hasty=0.3)]
                melds = kinds.count(ChowMade) + kinds.count(PungMade)
                assert kinds.count(TileDrawn) <= 23
                assert melds <= 2
                assert kinds.count(TileDiscarded) <= 1 + kinds.count(TileDrawn) + melds

    def test_gives_the_last_draw_to_the_dealer_only_after_one_meld(self) -> None:
        """XM-43."""
        seen = set()
        for seed in range(400):
            steps = played(GAMES[0], seed, hasty=0.3)
            dealer = steps[0].before.dealer
            kinds = [type(step.event) for step in steps]
            draws = [step.after.turn for step in steps if type(step.event) is TileDrawn]
            if len(draws) == 23:
                last = max(at for at, kind in enumerate(kinds) if kind is TileDrawn)
                melds = sum(kind in (ChowMade, PungMade) for kind in kinds[:last])
                assert (draws[-1] == dealer) == (melds == 1)
                seen.add(melds)
        assert seen == {0, 1, 2}


class TestHeavenlyHand:
    def test_of_the_dealer_is_declared_instead_of_the_first_discard(self) -> None:
        """XM-44, XM-46."""
        table = Table("rP rP rP rP rP", "rE rE bE bE")

        event = table.do(DEALER, WIN)

        assert facts(event) == {
            "kind": "xqmj.hand_won",
            "seat": 0,
            "how": "heavenly",
            "tiles": tiles("rP rP rP rP rP"),
            "lines": ({"key": "heavenly", "points": 6},),
            "points": 6,
        }
        assert outcome(table) == HandOutcome("heavenly", DEALER, (6, 0))

    def test_of_the_other_seat_is_its_first_draw(self) -> None:
        """XM-45."""
        table = Table("rA rE bE bH bC", "rR rH bP bP", "rC")
        table.discard(DEALER, "rA")
        table.let_lie()
        event = table.do(OTHER, WIN)

        assert facts(event)["how"] == "heavenly"
        assert facts(event)["points"] == 6

    def test_is_still_one_after_a_passed_claim(self) -> None:
        """XM-45: only a tile that was claimed ends the chance."""
        table = Table("rC rE bE bH bC", "rR rH bP bP", "rC")
        table.discard(DEALER, "rC")
        table.do(OTHER, PASS)
        table.table()

        assert facts(table.do(OTHER, WIN))["how"] == "heavenly"

    def test_may_be_declined_by_discarding(self) -> None:
        """XM-47: the hand goes on as any other."""
        table = Table("rR rH rC rK bK", "rE rE bE bH", "rP")
        assert table.legal(DEALER)[0] == WIN
        table.discard(DEALER, "bK")
        table.let_lie()
        table.discard(OTHER, "rP", drawn=True)

        assert outcome(table) is None

    def test_is_an_ordinary_self_draw_on_the_dealers_first_draw(self) -> None:
        """XM-44: the dealer's chance is the opening five only."""
        table = Table("rR rH rC rK bE", "rE rE bE bH", "rP bK")
        table.discard(DEALER, "bE")
        table.let_lie()
        table.discard(OTHER, "rP", drawn=True)
        table.let_lie()

        assert facts(table.do(DEALER, WIN))["how"] == "self_draw"

    def test_is_none_on_the_dealers_opening_discard(self) -> None:
        """XM-48: an ordinary win on a discard."""
        table = Table("rC rE bE bH bC", "rR rH bP bP")
        table.discard(DEALER, "rC")

        assert facts(table.do(OTHER, WIN))["how"] == "discard"

    def test_is_none_on_the_other_seats_first_draw_after_a_claim(self) -> None:
        """XM-49."""
        # The other seat claims the opening discard, so the dealer draws the wall's first tile.
        table = Table("rC rE bE bH bA", "rR rH bP bR", "rA bP")
        table.discard(DEALER, "rC")
        table.do(OTHER, CHOW)
        table.discard(OTHER, "bR")
        table.let_lie()
        assert table.state.turn == DEALER
        table.discard(DEALER, "rA", drawn=True)
        table.let_lie()

        event = facts(table.do(OTHER, WIN))
        assert (event["how"], event["points"]) == ("self_draw", 3)

    def test_is_none_for_the_dealer_who_draws_the_walls_first_tile_after_a_claim(self) -> None:
        """XM-44, XM-49."""
        table = Table("rC rR rH bP bP", "rR rH bE bR", "rC")
        table.discard(DEALER, "rC")
        table.do(OTHER, CHOW)
        table.discard(OTHER, "bR")
        table.let_lie()

        assert facts(table.do(DEALER, WIN))["how"] == "self_draw"

    def test_is_none_on_the_other_seats_second_draw(self) -> None:
        """XM-45."""
        table = Table("rA rE bE bH bC", "rR rH bP bP", "rA rE rC")
        table.discard(DEALER, "rA")
        table.let_lie()
        table.discard(OTHER, "rA", drawn=True)
        table.let_lie()
        table.discard(DEALER, "rE", drawn=True)
        table.let_lie()

        assert facts(table.do(OTHER, WIN))["how"] == "self_draw"
