"""What each viewer sees (XM-74 to XM-80)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from matches.games.protocol import Auditor, HandEvent, Seat, SeatViewer, Spectator, Viewer
from tests.support.games import json_of
from tests.support.xqmj import CHOW, DEALER, OTHER, PASS, WIN, Table

DEALER_VIEWER, OTHER_VIEWER = SeatViewer(DEALER), SeatViewer(OTHER)


def view(table: Table, viewer: Viewer) -> dict[str, Any]:
    seen: dict[str, Any] = json_of(table.rules.view(table.state, viewer))
    return seen


def line(table: Table, event: HandEvent, viewer: Viewer) -> Any:
    return json_of(table.rules.redact(table.state, event, viewer))


def midway() -> Table:
    """The other seat has drawn rE, which it also held."""
    table = Table("rA rR bK bR bC", "rE rH bA bH", "rE")
    table.discard(DEALER, "rR")
    table.let_lie()
    return table


class TestSeat:
    def test_sees_its_own_tiles_with_the_drawn_one_apart(self) -> None:
        """XM-74."""
        assert view(midway(), OTHER_VIEWER) == {
            "you": 1,
            "dealer": 0,
            "stage": "after_draw",
            "turn": 1,
            "wall_left": 22,
            "sides": [
                {"held": 4, "discards": [{"tile": "rR", "drawn": False}]},
                {"held": 5, "concealed": ["rE", "rH", "bA", "bH"], "drawn": "rE"},
            ],
        }

    def test_sees_of_the_other_seat_only_how_many_tiles_it_holds(self) -> None:
        """XM-74."""
        assert view(midway(), DEALER_VIEWER) == {
            "you": 0,
            "dealer": 0,
            "stage": "after_draw",
            "turn": 1,
            "wall_left": 22,
            "sides": [
                {
                    "held": 4,
                    "concealed": ["rA", "bK", "bR", "bC"],
                    "discards": [{"tile": "rR", "drawn": False}],
                },
                {"held": 5},
            ],
        }

    def test_sees_discards_in_order_with_their_shading(self) -> None:
        """XM-22, XM-74."""
        table = midway()
        table.discard(OTHER, "rE", drawn=True)
        table.let_lie()
        table.discard(DEALER, "bC")
        table.let_lie()
        table.discard(OTHER, "rH")

        for viewer in (DEALER_VIEWER, OTHER_VIEWER, Spectator()):
            assert view(table, viewer)["sides"][1]["discards"] == [
                {"tile": "rE", "drawn": True},
                {"tile": "rH", "drawn": False},
            ]

    def test_sees_the_discard_on_offer(self) -> None:
        """XM-74."""
        table = Table()
        table.discard(DEALER, "bR")

        for viewer in (DEALER_VIEWER, OTHER_VIEWER, Spectator()):
            seen = view(table, viewer)
            assert (seen["stage"], seen["turn"], seen["offered"]) == ("offer", OTHER, "bR")

    def test_sees_exposed_melds(self) -> None:
        """XM-29, XM-74."""
        table = Table("rC bA bA bE bE", "rR rH bP bK")
        table.discard(DEALER, "rC")
        table.do(OTHER, CHOW)

        seen = view(table, DEALER_VIEWER)
        assert seen["stage"] == "after_claim"
        assert seen["sides"] == [
            {"held": 4, "concealed": ["bA", "bA", "bE", "bE"]},
            {"held": 2, "meld": {"kind": "sequence", "tiles": ["rR", "rH", "rC"]}},
        ]

    def test_learns_a_draw_without_its_tile_from_the_other_seat(self) -> None:
        """XM-74."""
        table = Table("rA rR bK bR bC", "rE rH bA bH", "rE")
        table.discard(DEALER, "rR")
        event = table.table()

        assert line(table, event, OTHER_VIEWER) == {"seat": 1, "tile": "rE"}
        assert line(table, event, DEALER_VIEWER) == {"seat": 1}
        assert line(table, event, Spectator()) == {"seat": 1}

    def test_learns_of_a_discard_nothing_but_seat_tile_and_shading(self) -> None:
        """XM-75."""
        table = midway()
        event = table.discard(OTHER, "rH")

        for viewer in (DEALER_VIEWER, OTHER_VIEWER, Spectator(), Auditor()):
            assert line(table, event, viewer) == {"seat": 1, "tile": "rH", "drawn": False}


class TestDuringThePause:
    def claimable(self) -> Table:
        table = Table("rC bA bA bE bE", "rR rH bP bK")
        table.discard(DEALER, "rC")
        return table

    @pytest.mark.parametrize("viewer", [DEALER_VIEWER, Spectator()])
    def test_a_view_does_not_depend_on_whether_a_claim_is_possible(self, viewer: Viewer) -> None:
        """XM-76."""
        unclaimable = Table("rC bA bA bE bE", "rR bH bP bK")
        unclaimable.discard(DEALER, "rC")

        assert view(self.claimable(), viewer) == view(unclaimable, viewer)

    @pytest.mark.parametrize("viewer", [DEALER_VIEWER, Spectator()])
    def test_a_view_does_not_depend_on_a_pass(self, viewer: Viewer) -> None:
        """XM-38, XM-76."""
        passed = self.claimable()
        event = passed.do(OTHER, PASS)

        assert passed.rules.redact(passed.state, event, viewer) is None
        assert view(passed, viewer) == view(self.claimable(), viewer)
        assert passed.legal(DEALER) == self.claimable().legal(DEALER)

    def test_a_seat_sees_its_own_pass(self) -> None:
        """XM-38."""
        table = self.claimable()
        assert "passed" not in view(table, OTHER_VIEWER)
        event = table.do(OTHER, PASS)

        assert line(table, event, OTHER_VIEWER) == {"seat": 1}
        assert view(table, OTHER_VIEWER)["passed"] is True

    def test_refuses_the_discarder_everything_in_the_same_words(self) -> None:
        """XM-76."""
        passed = self.claimable()
        passed.do(OTHER, PASS)

        for table in (self.claimable(), passed):
            assert table.refusal(DEALER, PASS) == ("not_your_turn", "XM-25")
            assert table.refusal(DEALER, WIN) == ("not_your_turn", "XM-25")


class TestAfterTheHand:
    def won(self) -> Table:
        table = Table("rC bA bE bH bC", "rR rH bP bP")
        table.discard(DEALER, "rC")
        table.do(OTHER, WIN)
        return table

    @pytest.mark.parametrize("viewer", [DEALER_VIEWER, OTHER_VIEWER, Spectator(), Auditor()])
    def test_shows_the_winners_five_tiles_and_the_score(self, viewer: Viewer) -> None:
        """XM-78."""
        seen = view(self.won(), viewer)

        assert seen["stage"] == "over"
        assert "turn" not in seen
        assert seen["result"] == {
            "how": "discard",
            "winner": 1,
            "tiles": ["rR", "rH", "rC", "bP", "bP"],
            "lines": [{"key": "win", "points": 1}],
            "points": 1,
        }

    def test_keeps_the_other_seats_tiles_and_the_wall_hidden(self) -> None:
        """XM-78."""
        seen = view(self.won(), OTHER_VIEWER)

        assert seen["sides"][0] == {"held": 4}
        assert "wall" not in seen

    @pytest.mark.parametrize("viewer", [DEALER_VIEWER, OTHER_VIEWER, Spectator()])
    def test_shows_no_tiles_when_void(self, viewer: Viewer) -> None:
        """XM-78."""
        table = Table("rA rR rH bA bK", "rE rE bE bE")
        table.idle(wall_left=0)
        event = table.let_lie()
        seen = view(table, viewer)

        assert line(table, event, viewer) == {}
        assert seen["result"] == {"how": "void"}
        shown = [seat for seat, side in enumerate(seen["sides"]) if "concealed" in side]
        assert shown == ([viewer.seat] if isinstance(viewer, SeatViewer) else [])


class TestSpectator:
    def test_sees_what_is_visible_to_both_seats_only(self) -> None:
        """XM-80."""
        assert view(midway(), Spectator()) == {
            "dealer": 0,
            "stage": "after_draw",
            "turn": 1,
            "wall_left": 22,
            "sides": [{"held": 4, "discards": [{"tile": "rR", "drawn": False}]}, {"held": 5}],
        }


class TestAuditor:
    def test_sees_everything(self) -> None:
        """XM-79."""
        table = midway()
        seen = view(table, Auditor())

        assert seen["sides"] == [
            {
                "held": 4,
                "concealed": ["rA", "bK", "bR", "bC"],
                "discards": [{"tile": "rR", "drawn": False}],
            },
            {"held": 5, "concealed": ["rE", "rH", "bA", "bH"], "drawn": "rE"},
        ]
        assert seen["wall"] == list(table.state.order[10:])

    def test_sees_passes(self) -> None:
        table = Table("rC bA bA bE bE", "rR rH bP bK")
        table.discard(DEALER, "rC")
        event = table.do(OTHER, PASS)

        assert line(table, event, Auditor()) == {"seat": 1}
        assert view(table, Auditor())["passed"] is True


class TestUnknownEvent:
    def test_is_shown_to_nobody(self) -> None:
        class Novel(HandEvent, frozen=True, kw_only=True):
            KIND = "xqmj.novel"

        table = Table()
        for viewer in (DEALER_VIEWER, OTHER_VIEWER, Spectator(), Auditor()):
            assert table.rules.redact(table.state, Novel(), viewer) is None


class TestBytes:
    def test_of_a_view_are_the_same_whenever_it_is_equal(self) -> None:
        """XM-76: also its length must not tell."""
        claimable = Table("rC bA bA bE bE", "rR rH bP bK")
        unclaimable = Table("rC bA bA bE bE", "rR bH bP bK")
        encoded = set()
        for table in (claimable, unclaimable):
            table.discard(DEALER, "rC")
            encoded.add(msgspec.json.encode(table.rules.view(table.state, SeatViewer(Seat(0)))))

        assert len(encoded) == 1
