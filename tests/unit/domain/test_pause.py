"""The table of section 6 of the rules, row by row, in the pause, at its end and after it.

The dealer, seat 0, discards 1,000 ms after the deal unless a test says
otherwise, so its pause ends at 2,500.
"""

from __future__ import annotations

import pytest

from matches.domain import visibility
from matches.domain.clock import Due
from matches.domain.commands import Act
from matches.domain.events import Stamped
from matches.games.protocol import Action, HandEvent, SeatViewer, Spectator
from matches.games.xqmj.events import (
    ChowMade,
    ClaimPassed,
    HandVoided,
    PungMade,
    TileDiscarded,
    TileDrawn,
)
from tests.support.sitting import (
    BEN,
    CHOW_OFFERED,
    NOTHING_OFFERED,
    PUNG_OFFERED,
    WIN_OFFERED,
    A,
    B,
    Rig,
    Sitting,
    dealt,
    events,
    idle,
    kinds,
    timeline,
)
from tests.support.xqmj import CHOW, PASS, PUNG, WIN, discard, order

Answer = tuple[Action, HandEvent]
"""What the responder does, and the event that follows."""

FLAG_OF_B_MS = 182_501
"""The responder's clock starts at 2,500 with three minutes on it."""


def _offered(rig: Rig, wall: tuple[str, ...], tile: str = "rC") -> Sitting:
    rig.lay(wall)
    sitting = dealt()
    sitting.discard(1_000, A, tile)
    return sitting


def _clock(sitting: Sitting) -> tuple[int | None, int, int]:
    match = sitting.match
    return match.on_clock, match.clock_from_ms, match.clocks[B]


class TestEveryDiscard:
    @pytest.mark.parametrize(
        ("wall", "tile"),
        [(NOTHING_OFFERED, "rC"), (CHOW_OFFERED, "rC"), (PUNG_OFFERED, "bP"), (WIN_OFFERED, "rC")],
    )
    def test_starts_a_pause_of_1500_ms_in_which_no_clock_runs(
        self, rig: Rig, wall: tuple[str, ...], tile: str
    ) -> None:
        """XM-34, XM-35: whether or not it can be claimed."""
        sitting = _offered(rig, wall, tile)

        (offered,) = [e for e in events(sitting.log) if isinstance(e, TileDiscarded)]
        assert offered.clock == (1_000, 181_000)
        assert sitting.match.pause_until_ms == 2_500
        assert _clock(sitting) == (B, 2_500, 180_000)

    @pytest.mark.parametrize("wall", [NOTHING_OFFERED, CHOW_OFFERED, WIN_OFFERED])
    def test_looks_alike_to_everybody_else(self, rig: Rig, wall: tuple[str, ...]) -> None:
        """XM-76: also the instant at which the table acts next."""
        sitting = _offered(rig, wall)

        assert visibility.visible_due_ms(sitting.match) == FLAG_OF_B_MS
        assert visibility.view(sitting.match, SeatViewer(A)).legal == ()


class TestNoClaimPossible:
    def test_leaves_nothing_to_do_in_the_pause(self, rig: Rig) -> None:
        """XM-39."""
        sitting = _offered(rig, NOTHING_OFFERED)

        assert sitting.legal(B) == ()
        assert sitting.due == Due(2_500, deadline=False)
        assert sitting.refusal(1_001, BEN, Act(PASS)) == "no_claim_to_answer"
        assert sitting.refusal(2_499, BEN, Act(CHOW)) == "claim_not_possible"
        assert sitting.settle(2_499) == ()

    @pytest.mark.parametrize("now_ms", [2_500, 2_501, 9_999])
    def test_draws_at_the_pause_s_end_and_starts_the_clock(self, rig: Rig, now_ms: int) -> None:
        """XM-20, XM-35."""
        sitting = _offered(rig, NOTHING_OFFERED)

        assert sitting.settle(now_ms) == (Stamped(TileDrawn(), 2_500, None),)
        assert _clock(sitting) == (B, 2_500, 180_000)
        assert sitting.due == Due(FLAG_OF_B_MS, deadline=True, seat=B)

    def test_waits_for_a_discard_after_it(self, rig: Rig) -> None:
        sitting = _offered(rig, NOTHING_OFFERED)

        (caused,) = sitting.discard(3_100, B, "bC", drawn=True)

        assert caused.event == TileDiscarded(tile="bC", drawn=True, clock=(600, 181_400))


class TestPassRecorded:
    def test_is_final(self, rig: Rig) -> None:
        """XM-38."""
        sitting = _offered(rig, CHOW_OFFERED)

        assert sitting.act(1_001, B, PASS) == (Stamped(ClaimPassed(), 1_001, B),)
        assert sitting.legal(B) == ()
        assert sitting.refusal(1_002, BEN, Act(CHOW)) == "already_passed"
        assert sitting.refusal(1_002, BEN, Act(PASS)) == "already_passed"

    def test_is_told_to_its_own_seat_only(self, rig: Rig) -> None:
        """XM-38, XM-76."""
        sitting = _offered(rig, CHOW_OFFERED)
        before = [visibility.view(sitting.match, viewer) for viewer in (SeatViewer(A), Spectator())]

        (passed,) = sitting.act(1_001, B, PASS)

        after = sitting.match
        assert [visibility.view(after, viewer) for viewer in (SeatViewer(A), Spectator())] == before
        assert visibility.line(after, passed, SeatViewer(A), seq=9) is None
        assert visibility.line(after, passed, Spectator(), seq=9) is None
        assert visibility.line(after, passed, SeatViewer(B), seq=9) is not None

    @pytest.mark.parametrize("passed_ms", [1_000, 1_001, 2_499])
    def test_leaves_the_draw_at_the_pause_s_end(self, rig: Rig, passed_ms: int) -> None:
        """XM-38: exactly there."""
        sitting = _offered(rig, CHOW_OFFERED)
        sitting.act(passed_ms, B, PASS)

        assert sitting.due == Due(2_500, deadline=False)
        assert sitting.settle(2_499) == ()
        assert sitting.settle(2_500) == (Stamped(TileDrawn(), 2_500, None),)
        assert _clock(sitting) == (B, 2_500, 180_000)


class TestNoAnswer:
    @pytest.mark.parametrize(
        ("offer", "answer"),
        [
            ((CHOW_OFFERED, "rC"), (CHOW, ChowMade(tile="rC"))),
            ((PUNG_OFFERED, "bP"), (PUNG, PungMade(tile="bP"))),
        ],
    )
    @pytest.mark.parametrize("at_ms", [1_000, 1_400, 2_499, 2_500, 2_501, 60_000])
    def test_lets_a_meld_take_effect_at_once_whenever_it_comes(
        self, rig: Rig, offer: tuple[tuple[str, ...], str], answer: Answer, at_ms: int
    ) -> None:
        """XM-36: it is not charged either, the turn goes on with the discard."""
        sitting = _offered(rig, *offer)
        action, event = answer

        assert sitting.act(at_ms, B, action) == (Stamped(event, at_ms, B),)
        assert _clock(sitting) == (B, 2_500, 180_000)

    @pytest.mark.parametrize(
        ("at_ms", "clock"),
        [
            (1_000, (0, 180_000)),
            (2_499, (0, 180_000)),
            (2_500, (0, 180_000)),
            (2_501, (1, 179_999)),
            (62_500, (60_000, 120_000)),
        ],
    )
    def test_lets_a_win_take_effect_at_once_whenever_it_comes(
        self, rig: Rig, at_ms: int, clock: tuple[int, int]
    ) -> None:
        """XM-36: free in the pause. A win earns no increment (XM-66)."""
        sitting = _offered(rig, WIN_OFFERED)

        (caused,) = sitting.act(at_ms, B, WIN)

        assert (caused.at_ms, caused.event.KIND) == (at_ms, "xqmj.hand_won")
        assert caused.event.clock == clock  # type: ignore[union-attr]
        assert sitting.match.clocks == (181_000, clock[1])

    def test_starts_the_clock_at_the_pause_s_end_and_keeps_the_choice_open(self, rig: Rig) -> None:
        """XM-35, XM-65."""
        sitting = _offered(rig, CHOW_OFFERED)

        assert sitting.settle(100_000) == ()
        assert sitting.legal(B) == (CHOW, PASS)
        assert sitting.due == Due(FLAG_OF_B_MS, deadline=True, seat=B)

    @pytest.mark.parametrize("at_ms", [2_500, 2_501, 7_000])
    def test_draws_at_once_for_a_pass_that_comes_late_and_the_clock_runs_on(
        self, rig: Rig, at_ms: int
    ) -> None:
        """XM-40: still charged from the pause's end on."""
        sitting = _offered(rig, CHOW_OFFERED)

        caused = sitting.act(at_ms, B, PASS)

        assert caused == (
            Stamped(ClaimPassed(), at_ms, B),
            Stamped(TileDrawn(), at_ms, None),
        )
        assert _clock(sitting) == (B, 2_500, 180_000)
        (discarded,) = sitting.discard(9_500, B, "bC", drawn=True)
        assert discarded.event == TileDiscarded(tile="bC", drawn=True, clock=(7_000, 175_000))


class TestMeldInThePause:
    def test_may_discard_free_of_charge(self, rig: Rig) -> None:
        """XM-37: the discard earns its increment and starts its own pause."""
        sitting = _offered(rig, CHOW_OFFERED)
        sitting.act(1_200, B, CHOW)

        (caused,) = sitting.discard(1_300, B, "bE")

        assert caused.event == TileDiscarded(tile="bE", drawn=False, clock=(0, 182_000))
        assert sitting.match.pause_until_ms == 2_800
        assert (sitting.match.on_clock, sitting.match.clock_from_ms) == (A, 2_800)

    @pytest.mark.parametrize(("at_ms", "spent_ms"), [(2_499, 0), (2_500, 0), (2_501, 1)])
    def test_does_not_shorten_the_pause_for_the_clock(
        self, rig: Rig, at_ms: int, spent_ms: int
    ) -> None:
        """XM-37: the clock starts when the pause would have ended."""
        sitting = _offered(rig, PUNG_OFFERED, "bP")
        sitting.act(1_000, B, PUNG)
        assert sitting.due == Due(FLAG_OF_B_MS, deadline=True, seat=B)

        (caused,) = sitting.discard(at_ms, B, "rE")

        assert caused.event == TileDiscarded(
            tile="rE", drawn=False, clock=(spent_ms, 182_000 - spent_ms)
        )

    def test_leaves_the_table_nothing_to_do_at_the_pause_s_end(self, rig: Rig) -> None:
        sitting = _offered(rig, CHOW_OFFERED)
        sitting.act(1_200, B, CHOW)

        assert sitting.settle(50_000) == ()
        assert {action.tile for action in sitting.legal(B)} == {"bE", "bP"}  # type: ignore[attr-defined]

    def test_is_charged_from_the_pause_s_end_after_a_meld_that_came_late(self, rig: Rig) -> None:
        sitting = _offered(rig, CHOW_OFFERED)
        sitting.act(12_500, B, CHOW)

        (caused,) = sitting.discard(12_500, B, "bE")

        assert caused.event == TileDiscarded(tile="bE", drawn=False, clock=(10_000, 172_000))


class TestEmptyWall:
    """Without a meld the other seat draws the last tile (XM-43), and the dealer answers."""

    LOST = order("rA rE rR rH bK", "rK bA bE bR", "bC", last="bP")
    WON = order("rA rR rH bA bA", "bK bE bR bH", last="rC")

    def _last_offer(self, rig: Rig, wall: tuple[str, ...]) -> tuple[Sitting, int]:
        rig.lay(wall)
        sitting = dealt()
        last_ms = idle(sitting, 0, wall_left=0)
        assert sitting.match.hand.turn == A
        return sitting, last_ms

    def test_is_void_at_the_pause_s_end_where_nothing_can_be_won(self, rig: Rig) -> None:
        """XM-34, XM-42: the pause is kept, else the wait would tell."""
        sitting, last_ms = self._last_offer(rig, self.LOST)

        assert sitting.legal(A) == ()
        assert sitting.due == Due(last_ms + 1_500, deadline=False)
        assert sitting.settle(last_ms + 1_499) == ()
        left_ms = sitting.match.clocks[A]
        assert sitting.settle(last_ms + 1_500) == (
            Stamped(HandVoided(clock=(0, left_ms)), last_ms + 1_500, None),
        )
        assert sitting.match.phase == "intermission"

    def test_allows_a_win_in_the_pause(self, rig: Rig) -> None:
        sitting, last_ms = self._last_offer(rig, self.WON)
        assert sitting.legal(A) == (WIN, PASS)

        assert kinds(sitting.act(last_ms + 1, A, WIN)) == ["xqmj.hand_won"]
        assert sitting.match.outcomes[-1].how == "discard"

    def test_is_void_at_the_pause_s_end_where_the_win_was_passed(self, rig: Rig) -> None:
        sitting, last_ms = self._last_offer(rig, self.WON)
        assert kinds(sitting.act(last_ms + 1, A, PASS)) == ["xqmj.claim_passed"]

        assert sitting.settle(last_ms + 1_499) == ()
        assert timeline(sitting.settle(last_ms + 1_500)) == [("xqmj.hand_voided", last_ms + 1_500)]

    def test_keeps_the_choice_open_on_the_clock(self, rig: Rig) -> None:
        sitting, last_ms = self._last_offer(rig, self.WON)

        assert sitting.settle(last_ms + 60_000) == ()
        assert (sitting.match.on_clock, sitting.match.clock_from_ms) == (A, last_ms + 1_500)
        assert kinds(sitting.act(last_ms + 60_000, A, WIN)) == ["xqmj.hand_won"]

    @pytest.mark.parametrize("late_ms", [0, 1, 5_000])
    def test_is_void_at_once_for_a_pass_that_comes_late(self, rig: Rig, late_ms: int) -> None:
        """The clock ran from the pause's end to the void."""
        sitting, last_ms = self._last_offer(rig, self.WON)
        left_ms = sitting.match.clocks[A]
        at_ms = last_ms + 1_500 + late_ms

        caused = sitting.act(at_ms, A, PASS)

        assert caused == (
            Stamped(ClaimPassed(), at_ms, A),
            Stamped(HandVoided(clock=(late_ms, left_ms - late_ms)), at_ms, None),
        )

    def test_ends_the_match_at_once_in_the_sixth_hand(self, rig: Rig) -> None:
        """XM-59: a late pass, the void and the end of the match share one instant."""
        rig.lay(self.WON)
        sitting = dealt()
        for _ in range(5):
            last_ms = idle(sitting, sitting.match.at_ms, wall_left=0)
            sitting.act(last_ms + 1, sitting.match.hand.turn, PASS)
            sitting.settle(last_ms + 1_500 + 10_000)
        last_ms = idle(sitting, sitting.match.at_ms, wall_left=0)

        caused = sitting.act(last_ms + 2_000, sitting.match.hand.turn, PASS)

        assert timeline(caused) == [
            ("xqmj.claim_passed", last_ms + 2_000),
            ("xqmj.hand_voided", last_ms + 2_000),
            ("match.ended", last_ms + 2_000),
        ]
        assert (sitting.ended.winner, sitting.ended.scores) == (None, (0, 0))


class TestOneClock:
    def test_is_refused_to_the_seat_that_discarded(self, rig: Rig) -> None:
        """XM-25: the same answer whether or not the other seat can claim."""
        codes = {
            _offered(rig, wall).refusal(1_700, "a" * 32, Act(action))
            for wall in (NOTHING_OFFERED, CHOW_OFFERED, WIN_OFFERED)
            for action in (PASS, CHOW, WIN, discard("bK"))
        }

        assert codes == {"not_your_turn"}
