from __future__ import annotations

from typing import Any

import msgspec
import pytest

from matches.domain import visibility
from matches.domain.clock import Gap
from matches.domain.commands import Join, Leave, Ready, Resign
from matches.domain.events import MATCH_EVENTS, Stamped
from matches.games.protocol import Auditor, SeatViewer, Spectator, Viewer
from tests.support.sitting import (
    ANA,
    BEN,
    CHOW_OFFERED,
    DEALER_WINS,
    NOTHING_OFFERED,
    SECRET,
    A,
    B,
    Rig,
    Sitting,
    dealt,
    win_quickly,
)
from tests.support.xqmj import PASS

SEEING: list[Viewer] = [SeatViewer(A), SeatViewer(B), Spectator()]


def _line(sitting: Sitting, stamped: Stamped, viewer: Viewer) -> Any:
    """The line as a client gets it."""
    line = visibility.line(sitting.match, stamped, viewer, seq=7)
    return msgspec.json.decode(msgspec.json.encode(line))


def _view(sitting: Sitting, viewer: Viewer) -> Any:
    return msgspec.json.decode(msgspec.json.encode(visibility.view(sitting.match, viewer)))


class TestLine:
    @pytest.mark.parametrize("viewer", SEEING)
    def test_of_the_creation_shows_neither_secret_nor_invitation(self, viewer: Viewer) -> None:
        sitting = Sitting(at_ms=5, invited=BEN)

        assert _line(sitting, sitting.log[0], viewer) == {
            "seq": 7,
            "at_ms": 5,
            "kind": "match.created",
            "actor": None,
            "data": {
                "ruleset": "xqmj-32-2p",
                "rules_version": 1,
                "options": {"last_discard_claims": "win_only", "absence_claim_ms": 60_000},
                "control": "3+2",
                "rated": False,
                "players": [ANA, None],
                "deal": "deal@1",
                "flow": "match@1",
                "commitment": "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd",
            },
        }

    @pytest.mark.parametrize("viewer", SEEING)
    def test_of_sitting_down_names_seat_and_player(self, viewer: Viewer) -> None:
        sitting = Sitting()
        (taken,) = sitting.send(9, BEN, Join())

        line = _line(sitting, taken, viewer)

        assert (line["kind"], line["actor"]) == ("match.seat_taken", 1)
        assert line["data"] == {"seat": 1, "player": BEN}

    @pytest.mark.parametrize("viewer", SEEING)
    def test_of_getting_ready_shows_the_nonce(self, viewer: Viewer) -> None:
        sitting = Sitting(players=(ANA, BEN))
        (ready,) = sitting.send(9, BEN, Ready("00" * 8))

        assert _line(sitting, ready, viewer)["data"] == {"seat": 1, "hand": 1, "nonce": "00" * 8}

    def test_of_the_deal_shows_each_viewer_its_own_tiles(self, rig: Rig) -> None:
        """XM-74, XM-80."""
        rig.lay(NOTHING_OFFERED)
        sitting = dealt()
        shown = {str(viewer): _line(sitting, sitting.log[-1], viewer)["data"] for viewer in SEEING}

        for data in shown.values():
            assert set(data) == {"hand", "dealer", "deal"}
            assert (data["hand"], data["dealer"]) == (1, 0)
        sides = [
            [side.get("concealed") for side in data["deal"]["sides"]] for data in shown.values()
        ]
        assert sides == [
            [["rA", "rC", "bK", "bR", "bH"], None],
            [None, ["rK", "rE", "bE", "bP"]],
            [None, None],
        ]

    @pytest.mark.parametrize("viewer", SEEING)
    def test_carries_the_charge_of_a_turn(self, rig: Rig, viewer: Viewer) -> None:
        """Clocks are public (XM-74)."""
        rig.lay(NOTHING_OFFERED)
        sitting = dealt()
        (discarded,) = sitting.discard(4_000, A, "rC")

        assert _line(sitting, discarded, viewer) == {
            "seq": 7,
            "at_ms": 4_000,
            "kind": "xqmj.tile_discarded",
            "actor": 0,
            "data": {"seat": 0, "tile": "rC", "drawn": False},
            "clock": [4_000, 178_000],
        }

    @pytest.mark.parametrize("viewer", SEEING)
    def test_of_a_credit_says_how_much(self, rig: Rig, viewer: Viewer) -> None:
        rig.lay(NOTHING_OFFERED)
        sitting = dealt()
        (credited,) = sitting.settle(9_000, gaps=[Gap(1_000, 5_000)])

        line = _line(sitting, credited, viewer)

        assert line["kind"] == "match.clock_credited"
        assert line["data"] == {
            "down_from_ms": 1_000,
            "down_until_ms": 5_000,
            "credit_ms": 4_000,
        }

    @pytest.mark.parametrize("viewer", SEEING)
    def test_of_the_end_reveals_the_secret(self, rig: Rig, viewer: Viewer) -> None:
        rig.lay(NOTHING_OFFERED)
        sitting = dealt()
        (ended,) = sitting.send(4_000, BEN, Resign())

        assert _line(sitting, ended, viewer) == {
            "seq": 7,
            "at_ms": 4_000,
            "kind": "match.ended",
            "actor": 1,
            "data": {
                "reason": "resignation",
                "winner": 0,
                "seat": 1,
                "scores": [0, 0],
                "secret": SECRET.hex(),
            },
            "clock": [4_000, 176_000],
        }

    def test_is_known_for_every_kind_of_event(self) -> None:
        assert set(visibility._SHOWN) == set(MATCH_EVENTS)

    def test_of_a_pass_is_the_auditor_s_too(self, rig: Rig) -> None:
        rig.lay(CHOW_OFFERED)
        sitting = dealt()
        sitting.discard(0, A, "rC")
        (passed,) = sitting.act(1, B, PASS)

        told = [
            visibility.line(sitting.match, passed, viewer, seq=1) is not None
            for viewer in (*SEEING, Auditor())
        ]

        assert told == [False, True, False, True]


class TestView:
    def test_of_an_open_match(self) -> None:
        view = _view(Sitting(at_ms=5, invited=BEN), SeatViewer(A))

        assert view == {
            "match_id": "0199f2d0c0de7000800000000000c0de",
            "ruleset": "xqmj-32-2p",
            "rules_version": 1,
            "options": {"last_discard_claims": "win_only", "absence_claim_ms": 60_000},
            "control": "3+2",
            "rated": False,
            "commitment": "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd",
            "phase": "open",
            "you": 0,
            "players": [ANA, None],
            "ready": [False, False],
            "hand_no": 0,
            "dealer": None,
            "scores": [0, 0],
            "outcomes": [],
            "clocks": {"left_ms": [180_000, 180_000], "running": None, "from_ms": 5},
            "pause_until_ms": 5,
            "due_at_ms": 3_600_006,
            "hand": None,
            "legal": [],
            "ended": None,
        }

    def test_of_a_hand_shows_what_one_may_do(self, rig: Rig) -> None:
        rig.lay(CHOW_OFFERED)
        sitting = dealt()
        sitting.discard(0, A, "rC")

        own, other, public = (_view(sitting, viewer) for viewer in SEEING)

        assert (own["you"], own["legal"]) == (0, [])
        assert (other["you"], other["legal"]) == (1, [{"type": "chow"}, {"type": "pass"}])
        assert (public["you"], public["legal"]) == (None, None)
        for view in (own, other, public):
            assert view["clocks"] == {
                "left_ms": [182_000, 180_000],
                "running": 1,
                "from_ms": 1_500,
            }
            assert (view["pause_until_ms"], view["due_at_ms"]) == (1_500, 181_501)

    @pytest.mark.parametrize("viewer", SEEING)
    def test_of_an_intermission_shows_its_end(self, rig: Rig, viewer: Viewer) -> None:
        rig.lay(DEALER_WINS)
        sitting = dealt()
        win_quickly(sitting, 500, A)
        sitting.send(700, BEN, Ready())

        view = _view(sitting, viewer)

        assert (view["phase"], view["due_at_ms"]) == ("intermission", 10_500)
        assert view["ready"] == [False, True]
        assert view["scores"] == [6, 0]
        assert view["outcomes"] == [{"how": "heavenly", "winner": 0, "points": [6, 0]}]
        assert view["legal"] in ([], None)

    @pytest.mark.parametrize("viewer", SEEING)
    def test_holds_the_secret_only_after_the_end(self, rig: Rig, viewer: Viewer) -> None:
        rig.lay(NOTHING_OFFERED)
        sitting = dealt()
        before = msgspec.json.encode(visibility.view(sitting.match, viewer)).decode()

        sitting.send(10, ANA, Leave())

        view = _view(sitting, viewer)
        assert SECRET.hex() not in before
        assert view["ended"]["secret"] == SECRET.hex()
        assert (view["phase"], view["due_at_ms"]) == ("ended", None)

    def test_keeps_the_other_seat_s_tiles_hidden_after_the_end(self, rig: Rig) -> None:
        """Open tiles have a resource of their own (XM-79); what a seat saw stays what it saw."""
        rig.lay(NOTHING_OFFERED)
        sitting = dealt()
        sitting.send(10, ANA, Leave())

        sides = [_view(sitting, viewer)["hand"]["sides"] for viewer in SEEING]

        assert [["concealed" in side for side in both] for both in sides] == [
            [True, False],
            [False, True],
            [False, False],
        ]


class TestVisibleDue:
    def test_is_the_deadline_to_be_ready(self) -> None:
        sitting = Sitting(players=(ANA, BEN))
        sitting.send(400, ANA, Ready())

        assert visibility.visible_due_ms(sitting.match) == 30_001

    def test_does_not_move_with_a_private_pass(self, rig: Rig) -> None:
        """XM-76."""
        rig.lay(CHOW_OFFERED)
        sitting = dealt()
        sitting.discard(0, A, "rC")
        before = visibility.visible_due_ms(sitting.match)

        sitting.act(10, B, PASS)

        assert visibility.visible_due_ms(sitting.match) == before == 181_501
