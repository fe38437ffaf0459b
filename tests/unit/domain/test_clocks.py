"""Clocks of a 1+1 match: a minute and a second. The first hand is dealt at 0."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from matches.domain.clock import Due
from matches.domain.commands import Act, Join, Ready
from matches.domain.events import MatchEnded, Stamped
from matches.games.protocol import Action, Seat
from matches.games.xqmj.events import ChowMade, ClaimPassed, PungMade, TileDiscarded, TileDrawn
from tests.support.sitting import (
    ANA,
    BEN,
    CHOW_OFFERED,
    DEALER_WINS,
    NOTHING_OFFERED,
    PUNG_OFFERED,
    SECRET,
    WIN_OFFERED,
    A,
    B,
    Rig,
    Sitting,
    dealt,
    kinds,
    win_quickly,
)
from tests.support.xqmj import CHOW, PASS, PUNG, WIN, discard, order

SELF_DRAW = order("rC rA bK bR bH", "rE rK bE bP", "bC bA rA rP")
"""The other seat holds rK rE bE bP: draws bC, then rA …"""
B_ZERO_MS = 61_500
"""The responder's clock reaches zero: the opening discard at 0, its pause, and a minute."""


def _sitting(rig: Rig, wall: tuple[str, ...], tile: str | None = "rC") -> Sitting:
    """A 1+1 match whose dealer discards `tile` at the instant of the deal."""
    rig.lay(wall)
    sitting = dealt(control="1+1")
    if tile is not None:
        sitting.discard(0, A, tile)
    return sitting


def _flagged(at_ms: int, seat: Seat) -> Stamped:
    event = MatchEnded(
        reason="flag",
        winner=Seat(1 - seat),
        seat=seat,
        scores=(0, 0),
        secret=SECRET.hex(),
        clock=(60_000, 0),
    )
    return Stamped(event, at_ms, None)


class TestOpening:
    def test_runs_the_dealer_s_clock_from_the_deal(self, rig: Rig) -> None:
        """XM-64."""
        sitting = _sitting(rig, NOTHING_OFFERED, None)

        assert (sitting.match.on_clock, sitting.match.clock_from_ms) == (A, 0)
        assert sitting.due == Due(60_001, deadline=True, seat=A)

    def test_runs_it_from_the_second_ready_however_late_the_pairing_was(self, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        sitting = Sitting(at_ms=5, control="1+1")
        sitting.send(1_000, BEN, Join())
        sitting.send(2_000, BEN, Ready())
        sitting.send(9_000, ANA, Ready())

        assert sitting.match.clock_from_ms == 9_000
        assert sitting.due == Due(69_001, deadline=True, seat=A)


class TestIncrement:
    def test_is_added_after_each_own_discard(self, rig: Rig) -> None:
        """XM-66: to what the turn left, and only to the seat that discarded."""
        sitting = _sitting(rig, NOTHING_OFFERED, None)

        (first,) = sitting.discard(4_000, A, "rC")
        (second,) = [*sitting.discard(7_500, B, "bC", drawn=True)]

        assert first.event == TileDiscarded(tile="rC", drawn=False, clock=(4_000, 57_000))
        assert second.event == TileDiscarded(tile="bC", drawn=True, clock=(2_000, 59_000))
        assert sitting.match.clocks == (57_000, 59_000)

    def test_lifts_a_clock_over_its_start(self, rig: Rig) -> None:
        sitting = _sitting(rig, NOTHING_OFFERED)

        assert sitting.match.clocks == (61_000, 60_000)

    def test_is_not_added_for_a_claim_a_pass_or_a_draw(self, rig: Rig) -> None:
        for wall, tile, action in (
            (CHOW_OFFERED, "rC", CHOW),
            (PUNG_OFFERED, "bP", PUNG),
            (CHOW_OFFERED, "rC", PASS),
        ):
            sitting = _sitting(rig, wall, tile)

            sitting.act(5_000, B, action)

            assert sitting.match.clocks == (61_000, 60_000)

    def test_is_not_added_for_a_win(self, rig: Rig) -> None:
        sitting = _sitting(rig, DEALER_WINS, None)

        (won,) = sitting.act(2_000, A, WIN)

        assert won.event.clock == (2_000, 58_000)  # type: ignore[union-attr]
        assert sitting.match.clocks == (58_000, 60_000)

    def test_keeps_one_clock_for_all_hands(self, rig: Rig) -> None:
        """XM-63."""
        rig.lay(DEALER_WINS)
        sitting = dealt(control="1+1")
        win_quickly(sitting, 10_000, A)
        sitting.settle(20_000)

        win_quickly(sitting, 25_000, B)
        sitting.settle(35_000)

        assert sitting.match.clocks == (50_000, 55_000)
        assert sitting.due == Due(85_001, deadline=True, seat=A)


def _opening_discard(rig: Rig) -> tuple[Sitting, Seat, Action]:
    return _sitting(rig, NOTHING_OFFERED, None), A, discard("rC")


def _opening_win(rig: Rig) -> tuple[Sitting, Seat, Action]:
    return _sitting(rig, DEALER_WINS, None), A, WIN


def _discard_after_the_draw(rig: Rig) -> tuple[Sitting, Seat, Action]:
    return _sitting(rig, NOTHING_OFFERED), B, discard("bC", drawn=True)


def _win_on_a_discard(rig: Rig) -> tuple[Sitting, Seat, Action]:
    return _sitting(rig, WIN_OFFERED), B, WIN


def _chow(rig: Rig) -> tuple[Sitting, Seat, Action]:
    return _sitting(rig, CHOW_OFFERED), B, CHOW


def _pung(rig: Rig) -> tuple[Sitting, Seat, Action]:
    return _sitting(rig, PUNG_OFFERED, "bP"), B, PUNG


def _late_pass(rig: Rig) -> tuple[Sitting, Seat, Action]:
    return _sitting(rig, CHOW_OFFERED), B, PASS


def _discard_after_a_meld(rig: Rig) -> tuple[Sitting, Seat, Action]:
    sitting = _sitting(rig, CHOW_OFFERED)
    sitting.act(200, B, CHOW)
    return sitting, B, discard("bE")


Case = Callable[[Rig], tuple[Sitting, Seat, Action]]

ENDING_A_TURN: list[tuple[Case, str]] = [
    (_opening_discard, "xqmj.tile_discarded"),
    (_opening_win, "xqmj.hand_won"),
    (_discard_after_the_draw, "xqmj.tile_discarded"),
    (_win_on_a_discard, "xqmj.hand_won"),
    (_discard_after_a_meld, "xqmj.tile_discarded"),
]
WITHIN_A_TURN: list[tuple[Case, tuple[object, ...]]] = [
    (_chow, (ChowMade(tile="rC"),)),
    (_pung, (PungMade(tile="bP"),)),
    (_late_pass, (ClaimPassed(), TileDrawn())),
]


class TestZero:
    """An action stamped at or before the instant of zero stands, none after it (XM-67)."""

    def _zero_ms(self, seat: Seat) -> int:
        return 60_000 if seat == A else B_ZERO_MS

    @pytest.mark.parametrize("before_ms", [1, 0])
    @pytest.mark.parametrize(("case", "kind"), ENDING_A_TURN)
    def test_lets_a_turn_end_in_time(self, rig: Rig, case: Case, kind: str, before_ms: int) -> None:
        sitting, seat, action = case(rig)

        (caused,) = sitting.act(self._zero_ms(seat) - before_ms, seat, action)

        earned_ms = 1_000 if kind == "xqmj.tile_discarded" else 0
        assert kind == caused.event.KIND
        assert caused.event.clock == (60_000 - before_ms, before_ms + earned_ms)  # type: ignore[union-attr]
        assert sitting.match.ended is None

    @pytest.mark.parametrize("before_ms", [1, 0])
    @pytest.mark.parametrize(("case", "effects"), WITHIN_A_TURN)
    def test_lets_an_answer_come_in_time_and_the_clock_runs_on(
        self, rig: Rig, case: Case, effects: tuple[object, ...], before_ms: int
    ) -> None:
        sitting, seat, action = case(rig)
        at_ms = B_ZERO_MS - before_ms

        caused = sitting.act(at_ms, seat, action)

        assert tuple(stamped.event for stamped in caused) == effects
        assert sitting.settle(B_ZERO_MS) == ()
        assert sitting.settle(B_ZERO_MS + 1) == (_flagged(B_ZERO_MS + 1, B),)

    @pytest.mark.parametrize("after_ms", [1, 2, 100_000])
    @pytest.mark.parametrize("case", [case for case, _ in (*ENDING_A_TURN, *WITHIN_A_TURN)])
    def test_has_the_flag_fallen_one_millisecond_later(
        self, rig: Rig, case: Case, after_ms: int
    ) -> None:
        """XM-69; the event carries the first instant at which it was too late."""
        sitting, seat, action = case(rig)
        zero_ms = self._zero_ms(seat)
        player = sitting.player(seat)

        assert sitting.refusal(zero_ms + after_ms, player, Act(action)) == "match_ended"
        assert sitting.log[-1] == _flagged(zero_ms + 1, seat)
        assert sitting.match.clocks[seat] == 0

    @pytest.mark.parametrize(("now_ms", "count"), [(61_499, 0), (61_500, 0), (61_501, 1)])
    def test_is_settled_by_the_table_alone(self, rig: Rig, now_ms: int, count: int) -> None:
        sitting = _sitting(rig, NOTHING_OFFERED)
        sitting.settle(1_500)

        assert kinds(sitting.settle(now_ms)) == ["match.ended"] * count

    def test_may_leave_nothing_for_the_next_hand(self, rig: Rig) -> None:
        """A win at zero stands; the flag then falls right after the next turn begins."""
        rig.lay(WIN_OFFERED, NOTHING_OFFERED)
        sitting = dealt(control="1+1")
        sitting.discard(0, A, "rC")
        sitting.act(B_ZERO_MS, B, WIN)
        assert sitting.match.clocks == (61_000, 0)

        settled = sitting.settle(B_ZERO_MS + 10_001)

        assert [(stamped.event.KIND, stamped.at_ms) for stamped in settled] == [
            ("match.hand_dealt", 71_500),
            ("match.ended", 71_501),
        ]

    def test_may_be_kept_by_a_discard_at_the_very_instant_of_the_deal(self, rig: Rig) -> None:
        rig.lay(WIN_OFFERED, NOTHING_OFFERED)
        sitting = dealt(control="1+1")
        sitting.discard(0, A, "rC")
        sitting.act(B_ZERO_MS, B, WIN)

        (caused,) = sitting.discard(71_500, B, "rC")

        assert caused.event.clock == (0, 1_000)  # type: ignore[union-attr]


class TestDisconnection:
    def test_changes_nothing(self, rig: Rig) -> None:
        """XM-68: with nobody there, pause, draw and flag come as they must."""
        sitting = _sitting(rig, NOTHING_OFFERED)

        settled = sitting.settle(10_000_000)

        assert [(stamped.event.KIND, stamped.at_ms) for stamped in settled] == [
            ("xqmj.tile_drawn", 1_500),
            ("match.ended", 61_501),
        ]
