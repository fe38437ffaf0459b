from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matches.domain import match as matches
from matches.domain.clock import Due, Gap
from matches.domain.commands import Act, Command, Join, Ready, Resign
from matches.domain.events import Stamped
from matches.domain.match import Unsettled
from matches.domain.state import Match
from matches.games.xqmj.events import ClaimPassed
from tests.support.roving import Roving
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
    timeline,
    win_quickly,
)
from tests.support.xqmj import PASS, discard


class TestDecide:
    @pytest.mark.parametrize("at_ms", [1_500, 1_501, 90_000])
    def test_asks_for_what_is_due_first(self, rig: Rig, at_ms: int) -> None:
        rig.lay(NOTHING_OFFERED)
        sitting = dealt()
        sitting.discard(0, A, "rC")

        with pytest.raises(Unsettled) as unsettled:
            matches.decide(sitting.match, Command(at_ms, BEN, Act(discard("bC", drawn=True))))

        assert unsettled.value.due == Due(1_500, deadline=False)

    def test_asks_for_it_whoever_commands_what(self, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        sitting = dealt()

        for player in (ANA, BEN, "e" * 32):
            with pytest.raises(Unsettled):
                matches.decide(sitting.match, Command(180_001, player, Resign()))

    def test_asks_for_nothing_before_it_is_due(self, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        sitting = dealt()

        assert matches.decide(sitting.match, Command(180_000, ANA, Resign()))

    def test_takes_a_command_that_was_overtaken_at_the_newest_instant(self, rig: Rig) -> None:
        """Instants never decrease in a stream: a stamp that waited is lifted to the match's own."""
        rig.lay(CHOW_OFFERED)
        sitting = dealt()
        sitting.discard(700, A, "rC")

        caused = matches.decide(sitting.match, Command(650, BEN, Act(PASS)))

        assert caused.events == (Stamped(ClaimPassed(), 700, B),)

    def test_settles_what_it_caused_itself(self, rig: Rig) -> None:
        rig.lay(DEALER_WINS)
        sitting = dealt()
        win_quickly(sitting, 10, A)
        sitting.send(20, BEN, Ready())

        caused = matches.decide(sitting.match, Command(15, ANA, Ready()))

        assert timeline(caused.events) == [("match.seat_ready", 20), ("match.hand_dealt", 20)]

    def test_leaves_deadlines_of_its_own_instant_alone(self, rig: Rig) -> None:
        """A late pass at zero draws; the flag falls a millisecond later, and is the table's."""
        rig.lay(CHOW_OFFERED)
        sitting = dealt()
        sitting.discard(0, A, "rC")

        caused = sitting.act(181_500, B, PASS)

        assert timeline(caused) == [("xqmj.claim_passed", 181_500), ("xqmj.tile_drawn", 181_500)]
        assert sitting.due == Due(181_501, deadline=True, seat=B)


class TestSettle:
    def test_owes_nothing_to_a_new_match(self) -> None:
        assert Sitting().settle(3_599_999) == ()

    def test_keeps_deadlines_apart_from_scheduled_acts(self, rig: Rig) -> None:
        """A sweep draws at once, but looks at the flag with grace."""
        rig.lay(NOTHING_OFFERED)
        sitting = dealt()
        sitting.discard(0, A, "rC")

        assert timeline(sitting.settle(181_501, deadline_ms=181_401)) == [
            ("xqmj.tile_drawn", 1_500)
        ]
        assert timeline(sitting.settle(181_600, deadline_ms=181_500)) == []
        assert timeline(sitting.settle(181_601, deadline_ms=181_501)) == [("match.ended", 181_501)]

    def test_runs_through_a_whole_evening(self) -> None:
        """Nobody comes back after the first deal: the dealer's flag is all there is."""
        sitting = dealt()

        assert timeline(sitting.settle(10**9)) == [("match.ended", 180_001)]

    def test_runs_from_hand_to_hand(self, rig: Rig) -> None:
        rig.lay(DEALER_WINS)
        sitting = dealt()
        win_quickly(sitting, 10, A)

        assert timeline(sitting.settle(10**9)) == [
            ("match.hand_dealt", 10_010),
            ("match.ended", 190_011),
        ]


def _under_way(seed: int, steps: int) -> Roving:
    roving = Roving(random.Random(seed), hasty=seed % 2 == 0).play(steps=steps)
    roving.sitting.settle(roving.now_ms, gaps=roving.gaps)
    return roving


def _settled(match: Match, now_ms: int, gaps: list[Gap]) -> tuple[Stamped, ...]:
    """As whoever looks at `now_ms` settles: a gap is known once it is over, and stops deadlines."""
    known = tuple(gap for gap in gaps if gap.until_ms <= now_ms)
    open_from = [gap.from_ms for gap in gaps if gap.from_ms < now_ms < gap.until_ms]
    deadline_ms = min([now_ms, *open_from])
    return matches.settle(match, now_ms=now_ms, deadline_ms=deadline_ms, gaps=known).events


SEEDS = st.integers(0, 5_000)
STEPS = st.integers(0, 500)
JUMPS_MS = st.lists(
    st.one_of(st.sampled_from([0, 1, 1_499, 1_500, 10_000]), st.integers(0, 90_000)), max_size=12
)


class TestAnyMatch:
    @settings(deadline=None, max_examples=80)
    @given(seed=SEEDS, steps=STEPS, jumps_ms=JUMPS_MS, outages=st.lists(st.integers(0, 400_000)))
    def test_settles_alike_in_one_step_and_in_many(
        self, seed: int, steps: int, jumps_ms: list[int], outages: list[int]
    ) -> None:
        roving = _under_way(seed, steps)
        gaps = [*roving.gaps]
        for offset_ms in sorted(outages):
            from_ms = roving.now_ms + offset_ms
            if not gaps or gaps[-1].until_ms <= from_ms:
                gaps.append(Gap(from_ms, from_ms + 1_000 + offset_ms % 60_000))
        until_ms = max([roving.now_ms + sum(jumps_ms), *[gap.until_ms for gap in gaps]])

        stepwise: list[Stamped] = []
        match, now_ms = roving.match, roving.now_ms
        for jump_ms in [*jumps_ms, until_ms]:
            now_ms = min(now_ms + jump_ms, until_ms)
            settled = _settled(match, now_ms, gaps)
            stepwise += settled
            match = matches.fold(match, settled)

        assert tuple(stepwise) == _settled(roving.match, until_ms, gaps)

    @settings(deadline=None, max_examples=50)
    @given(seed=SEEDS, steps=STEPS, later_ms=st.integers(0, 700_000))
    def test_owes_nothing_twice(self, seed: int, steps: int, later_ms: int) -> None:
        roving = _under_way(seed, steps)
        now_ms, gaps = roving.now_ms + later_ms, tuple(roving.gaps)
        after, settled = matches.settle(roving.match, now_ms=now_ms, deadline_ms=now_ms, gaps=gaps)

        assert after == matches.fold(roving.match, settled)
        assert matches.settle(after, now_ms=now_ms, deadline_ms=now_ms, gaps=gaps) == (after, ())

    @settings(deadline=None, max_examples=50)
    @given(seed=SEEDS, steps=STEPS)
    def test_is_due_exactly_when_settling_yields_something(self, seed: int, steps: int) -> None:
        match = _under_way(seed, steps).match
        due = matches.due_at(match)
        if due is None:
            assert match.ended is not None
            return

        assert due.at_ms >= match.at_ms
        early_ms = due.at_ms - 1
        assert matches.settle(match, now_ms=early_ms, deadline_ms=early_ms) == (match, ())
        _, settled = matches.settle(match, now_ms=due.at_ms, deadline_ms=due.at_ms)
        assert settled[0].at_ms == due.at_ms

    @settings(deadline=None, max_examples=50)
    @given(seed=SEEDS, steps=STEPS)
    def test_never_goes_back_in_time(self, seed: int, steps: int) -> None:
        instants = [stamped.at_ms for stamped in _under_way(seed, steps).sitting.log]

        assert instants == sorted(instants)


class TestTwoSeatsAtTheBoundary:
    """A move and a sweep at the same boundary, in either order: the stamp decides (I5)."""

    @pytest.mark.parametrize("move_ms", [179_999, 180_000, 180_001])
    @pytest.mark.parametrize("sweep_ms", [179_999, 180_000, 180_001, 180_101])
    @pytest.mark.parametrize("sweep_first", [True, False])
    def test_decides_by_the_stamp(
        self, rig: Rig, move_ms: int, sweep_ms: int, sweep_first: bool
    ) -> None:
        rig.lay(NOTHING_OFFERED)
        sitting = dealt()
        if sweep_first and sweep_ms < 180_101:
            # A sweep's grace of 100 ms leaves the move time to arrive.
            sitting.settle(sweep_ms, deadline_ms=sweep_ms - 100)

        if move_ms <= 180_000:
            sitting.discard(move_ms, A, "rC")
        else:
            assert sitting.refusal(move_ms, ANA, Act(discard("rC"))) == "match_ended"
        sitting.settle(sweep_ms, deadline_ms=sweep_ms - 100)

        reason = sitting.match.ended.reason if sitting.match.ended else None
        assert reason == (None if move_ms <= 180_000 else "flag")

    def test_does_not_let_another_seat_s_command_overtake_a_move_in_time(self, rig: Rig) -> None:
        """The flag is against seat 0; seat 1's command has to wait for its grace."""
        rig.lay(NOTHING_OFFERED)
        sitting = dealt()
        sitting.settle(180_050, deadline_ms=179_950)

        with pytest.raises(Unsettled) as unsettled:
            matches.decide(sitting.match, Command(180_050, BEN, Resign()))

        assert unsettled.value.due == Due(180_001, deadline=True, seat=A)
        sitting.discard(180_000, A, "rC")
        sitting.send(180_050, BEN, Resign())
        assert sitting.ended.reason == "resignation"

    def test_joins_nobody_twice(self) -> None:
        sitting = Sitting()
        sitting.send(1, BEN, Join())

        assert sitting.refusal(1, BEN, Join()) == "already_seated"
