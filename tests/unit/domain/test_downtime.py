"""Downtime in a 3+2 match whose first hand is dealt at 0: three minutes, flag after 180,000."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matches.domain import deal, visibility
from matches.domain.clock import Due, Gap
from matches.domain.commands import Act, Join, Ready
from matches.domain.events import ClockCredited, Stamped
from matches.games.xqmj.events import TileDiscarded, TileDrawn
from tests.support.sitting import (
    ANA,
    BEN,
    CHOW_OFFERED,
    DEALER_WINS,
    NOTHING_OFFERED,
    A,
    B,
    Rig,
    Sitting,
    dealt,
    idle,
    timeline,
    win_quickly,
)
from tests.support.xqmj import CHOW, discard


def _credited(gap: Gap, credit_ms: int, at_ms: int | None = None) -> Stamped:
    event = ClockCredited(down_from_ms=gap.from_ms, down_until_ms=gap.until_ms, credit_ms=credit_ms)
    return Stamped(event, gap.until_ms if at_ms is None else at_ms, None)


def _opening(rig: Rig) -> Sitting:
    rig.lay(NOTHING_OFFERED)
    return dealt()


def _offer(rig: Rig, wall: tuple[str, ...]) -> Sitting:
    """The dealer discarded rC at 1,000: its pause ends at 2,500."""
    rig.lay(wall)
    sitting = dealt()
    sitting.discard(1_000, A, "rC")
    return sitting


class TestRunningClock:
    def test_gets_the_whole_gap_back(self, rig: Rig) -> None:
        sitting = _opening(rig)
        gap = Gap(10_000, 70_000)

        settled = sitting.settle(100_000, gaps=[gap])

        assert settled == (_credited(gap, 60_000),)
        assert sitting.match.clock_from_ms == 60_000
        assert sitting.due == Due(240_001, deadline=True, seat=A)

    def test_is_charged_only_what_the_service_was_there_for(self, rig: Rig) -> None:
        sitting = _opening(rig)
        sitting.settle(100_000, gaps=[Gap(10_000, 70_000)])

        (caused,) = sitting.discard(100_000, A, "rC")

        assert caused.event == TileDiscarded(tile="rC", drawn=False, clock=(40_000, 142_000))

    def test_gets_only_the_part_in_which_it_ran(self, rig: Rig) -> None:
        """The draw inside the gap keeps its instant, and the clock runs from there."""
        sitting = _offer(rig, NOTHING_OFFERED)
        gap = Gap(1_200, 30_000)

        settled = sitting.settle(40_000, gaps=[gap])

        assert settled == (Stamped(TileDrawn(), 2_500, None), _credited(gap, 27_500))
        assert (sitting.match.on_clock, sitting.match.clock_from_ms) == (B, 30_000)

    def test_gets_the_same_whether_or_not_a_claim_is_open(self, rig: Rig) -> None:
        """XM-76."""
        sitting = _offer(rig, CHOW_OFFERED)
        gap = Gap(1_200, 30_000)

        assert sitting.settle(40_000, gaps=[gap]) == (_credited(gap, 27_500),)
        assert sitting.match.clock_from_ms == 30_000
        assert sitting.legal(B) != ()

    @pytest.mark.parametrize("gap", [Gap(1_100, 2_400), Gap(1_100, 2_500)])
    @pytest.mark.parametrize("wall", [CHOW_OFFERED, NOTHING_OFFERED])
    def test_gets_nothing_for_a_gap_inside_the_pause(
        self, rig: Rig, wall: tuple[str, ...], gap: Gap
    ) -> None:
        """XM-35: nobody's clock ran."""
        sitting = _offer(rig, wall)

        sitting.settle(2_500, gaps=[gap])

        assert sitting.match.clock_from_ms == 2_500
        assert not any(isinstance(stamped.event, ClockCredited) for stamped in sitting.log)

    def test_gets_nothing_for_a_gap_before_its_turn(self, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        sitting = dealt(at_ms=50_000)

        assert sitting.settle(60_000, gaps=[Gap(10_000, 20_000), Gap(30_000, 50_000)]) == ()

    def test_gets_each_of_several_gaps_back(self, rig: Rig) -> None:
        sitting = _opening(rig)
        gaps = [Gap(1_000, 4_000), Gap(4_000, 6_000), Gap(170_000, 500_000)]

        settled = sitting.settle(500_000, gaps=gaps)

        assert settled == (
            _credited(gaps[0], 3_000),
            _credited(gaps[1], 2_000),
            _credited(gaps[2], 330_000),
        )
        assert sitting.due == Due(180_001 + 335_000, deadline=True, seat=A)

    def test_gets_a_gap_back_once(self, rig: Rig) -> None:
        sitting = _opening(rig)
        gaps = [Gap(1_000, 4_000), Gap(5_000, 7_000)]
        sitting.settle(4_500, gaps=gaps[:1])

        assert sitting.settle(8_000, gaps=gaps) == (_credited(gaps[1], 2_000),)
        assert sitting.settle(8_000, gaps=gaps) == ()
        assert sitting.settle(90_000, gaps=gaps) == ()

    def test_shows_everybody_the_new_instant_of_the_flag(self, rig: Rig) -> None:
        sitting = _opening(rig)

        sitting.settle(100_000, gaps=[Gap(10_000, 70_000)])

        assert visibility.visible_due_ms(sitting.match) == 240_001
        assert visibility.clocks(sitting.match).from_ms == 60_000


class TestFlag:
    @pytest.mark.parametrize("gap", [Gap(180_000, 181_000), Gap(60_000, 9_000_000)])
    def test_does_not_fall_in_a_gap(self, rig: Rig, gap: Gap) -> None:
        sitting = _opening(rig)
        down_ms = gap.until_ms - gap.from_ms

        settled = sitting.settle(gap.until_ms, gaps=[gap])

        assert settled == (_credited(gap, down_ms),)
        assert timeline(sitting.settle(180_000 + down_ms)) == []
        assert timeline(sitting.settle(180_001 + down_ms)) == [("match.ended", 180_001 + down_ms)]

    def test_stands_where_it_fell_before_the_gap(self, rig: Rig) -> None:
        sitting = _opening(rig)

        settled = sitting.settle(300_000, gaps=[Gap(180_001, 299_000)])

        assert timeline(settled) == [("match.ended", 180_001)]

    def test_that_fell_before_the_gap_is_not_undone_by_it(self, rig: Rig) -> None:
        """Whoever settles with grace may see the gap before it may see the flag."""
        sitting = _opening(rig)
        gap = Gap(180_050, 299_000)

        assert sitting.settle(299_000, deadline_ms=179_999, gaps=[gap]) == ()
        assert timeline(sitting.settle(299_000, gaps=[gap])) == [("match.ended", 180_001)]


class TestDeadlines:
    def test_to_be_ready_are_moved_by_the_gap(self) -> None:
        """XM-57: paired at 1,000, so until 31,000."""
        sitting = Sitting()
        sitting.send(1_000, BEN, Join())
        gap = Gap(20_000, 60_000)

        assert sitting.settle(60_000, gaps=[gap]) == (_credited(gap, 40_000),)

        sitting.send(71_000, ANA, Ready())
        assert sitting.due == Due(71_001, deadline=True, seat=B)

    def test_to_take_an_open_seat_are_moved_by_the_gap(self) -> None:
        sitting = Sitting()
        gap = Gap(3_599_000, 3_700_000)

        assert sitting.settle(3_700_000, gaps=[gap]) == (_credited(gap, 101_000),)
        assert sitting.due == Due(3_701_001, deadline=True)

    def test_are_moved_only_from_where_they_began(self) -> None:
        sitting = Sitting()
        sitting.send(30_000, BEN, Join())
        gap = Gap(29_500, 90_000)

        assert sitting.settle(90_000, gaps=[gap]) == (_credited(gap, 60_000),)
        assert sitting.due == Due(120_001, deadline=True)


class TestScheduledActs:
    def test_keep_their_instants_in_a_gap(self, rig: Rig) -> None:
        """A void hand, its intermission and the next deal: then the dealer's clock is credited."""
        rig.lay(NOTHING_OFFERED)
        sitting = dealt()
        last_ms = idle(sitting, 0, wall_left=0)
        gap = Gap(last_ms + 200, last_ms + 100_000)

        settled = sitting.settle(last_ms + 100_000, gaps=[gap])

        dealt_ms = last_ms + 1_500 + 10_000
        assert timeline(settled) == [
            ("xqmj.hand_voided", last_ms + 1_500),
            ("match.hand_dealt", dealt_ms),
            ("match.clock_credited", last_ms + 100_000),
        ]
        assert settled[-1] == _credited(gap, gap.until_ms - dealt_ms)

    def test_may_have_been_settled_while_the_gap_went_on(self, rig: Rig) -> None:
        """A sweeper that outlives the web draws in time, and moves no deadline."""
        sitting = _offer(rig, NOTHING_OFFERED)
        gap = Gap(1_200, 400_000)

        early = sitting.settle(300_000, deadline_ms=1_200)
        late = sitting.settle(400_000, gaps=[gap])

        assert timeline(early) == [("xqmj.tile_drawn", 2_500)]
        assert late == (_credited(gap, 397_500),)

    def test_of_an_intermission_take_no_credit(self, rig: Rig) -> None:
        """XM-59: it is bounded, and goes on."""
        rig.lay(DEALER_WINS)
        sitting = dealt()
        win_quickly(sitting, 5_000, A)

        assert sitting.settle(14_000, gaps=[Gap(6_000, 13_000)]) == ()
        assert timeline(sitting.settle(15_000, gaps=[Gap(6_000, 13_000)])) == [
            ("match.hand_dealt", 15_000)
        ]


class TestCommandInAGap:
    """A command that is received while the service recovers is stamped inside the gap."""

    def test_is_handled_at_the_gap_s_end(self, rig: Rig) -> None:
        sitting = _opening(rig)
        gap = Gap(170_000, 190_000)

        sitting.send(189_990, ANA, Act(discard("rC")), gaps=[gap])

        assert sitting.log[-2:] == [
            _credited(gap, 20_000),
            Stamped(TileDiscarded(tile="rC", drawn=False, clock=(170_000, 12_000)), 190_000, A),
        ]

    def test_may_still_claim(self, rig: Rig) -> None:
        sitting = _offer(rig, CHOW_OFFERED)

        (caused,) = sitting.send(1_700, BEN, Act(CHOW), gaps=[Gap(1_100, 2_200)])

        assert (caused.event.KIND, caused.at_ms) == ("xqmj.chow_made", 1_700)

    def test_knows_nothing_of_a_gap_that_had_not_begun(self, rig: Rig) -> None:
        sitting = _opening(rig)
        gap = Gap(5_000, 9_000)

        (caused,) = sitting.send(4_990, ANA, Act(discard("rC")), gaps=[gap])

        assert (caused.at_ms, caused.event.clock) == (4_990, (4_990, 177_010))  # type: ignore[union-attr]
        assert timeline(sitting.settle(9_000, gaps=[gap])) == [
            ("xqmj.tile_drawn", 6_490),
            ("match.clock_credited", 9_000),
        ]

    def test_is_not_answered_before_what_was_recorded_already(self, rig: Rig) -> None:
        """A gap that ended before the newest event is credited at that event's instant."""
        sitting = _offer(rig, CHOW_OFFERED)
        sitting.act(8_000, B, CHOW)
        gap = Gap(6_000, 7_500)

        assert sitting.settle(8_100, gaps=[gap]) == (_credited(gap, 1_500, at_ms=8_000),)


@st.composite
def _gaps(draw: st.DrawFn) -> list[Gap]:
    gaps: list[Gap] = []
    at_ms = 0
    for up_ms, down_ms in draw(
        st.lists(st.tuples(st.integers(0, 40_000), st.integers(1, 90_000)), max_size=8)
    ):
        gaps.append(Gap(at_ms + up_ms, at_ms + up_ms + down_ms))
        at_ms = gaps[-1].until_ms
    return gaps


def _first_late_ms(gaps: list[Gap], *, from_ms: int, left_ms: int) -> int:
    """The first instant after `left_ms` of time outside all gaps, counted from `from_ms`."""
    at_ms = from_ms
    for gap in gaps:
        if gap.until_ms <= at_ms:
            continue
        if at_ms + left_ms < gap.from_ms:
            break
        left_ms -= max(0, gap.from_ms - at_ms)
        at_ms = gap.until_ms
    return at_ms + left_ms + 1


class TestAnyDowntime:
    @given(gaps=_gaps(), discard_ms=st.integers(0, 30_000), claimable=st.booleans())
    def test_is_never_charged_to_anybody(
        self, gaps: list[Gap], discard_ms: int, claimable: bool
    ) -> None:
        """The flag falls when the seat has used its time while the service was there."""
        with pytest.MonkeyPatch.context() as patch:
            rig = Rig()
            patch.setattr(deal, "order", rig.order)
            patch.setattr(deal, "first_dealer", rig.first_dealer)
            sitting = _after_discard(rig, gaps, discard_ms, claimable=claimable)
            began_ms = sitting.match.clock_from_ms

            sitting.settle(10_000_000, gaps=gaps)

        if sitting.ended.seat == B:
            assert sitting.ended.clock == (180_000, 0)
            assert sitting.log[-1].at_ms == _first_late_ms(gaps, from_ms=began_ms, left_ms=180_000)


def _after_discard(rig: Rig, gaps: list[Gap], at_ms: int, *, claimable: bool) -> Sitting:
    rig.lay(CHOW_OFFERED if claimable else NOTHING_OFFERED)
    sitting = dealt()
    sitting.send(at_ms, ANA, Act(discard("rC")), gaps=gaps)
    return sitting
