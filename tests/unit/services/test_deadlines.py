"""Commands near deadlines and outages, over a log in memory."""

from __future__ import annotations

from typing import Any

import pytest

from matches.domain.clock import GRACE_MS, READY_MS
from matches.domain.commands import Act, Join, Ready
from matches.domain.events import ClockCredited, MatchEnded
from tests.support.parlour import Parlour, flag_of, key, lose_races, refusal
from tests.support.sitting import (
    ANA,
    BEN,
    CHOW_OFFERED,
    NOTHING_OFFERED,
    A,
    B,
    Rig,
)
from tests.support.xqmj import CHOW, WIN, discard


class TestOwnDeadline:
    @pytest.mark.parametrize(("late_ms", "stands"), [(-1, True), (0, True), (1, False)])
    def test_is_judged_to_the_millisecond(
        self, parlour: Parlour, rig: Rig, late_ms: int, stands: bool
    ) -> None:
        rig.lay(NOTHING_OFFERED)
        parlour.deal()
        zero_ms = flag_of(parlour)
        parlour.to(zero_ms + late_ms)

        if stands:
            parlour.act(A, discard("rC"))
            assert parlour.kinds[-1] == "xqmj.tile_discarded"
        else:
            assert refusal(parlour, ANA, Act(discard("rC"))).code == "match_ended"
            assert parlour.log[-1].at_ms == zero_ms + 1
        assert parlour.store.clock() == zero_ms + late_ms, "nobody waited"


class TestAnothersDeadline:
    def test_is_given_its_grace(self, parlour: Parlour, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        parlour.deal()
        zero_ms = flag_of(parlour)
        parlour.to(zero_ms + 20)

        assert refusal(parlour, BEN, Act(WIN)).code == "match_ended"

        assert parlour.log[-1].at_ms == zero_ms + 1
        assert parlour.clock() == zero_ms + 1 + GRACE_MS, "it waited for a move in time"

    def test_lets_a_move_that_was_stamped_in_time_stand(self, parlour: Parlour, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        parlour.deal()
        mover = parlour.beside()
        zero_ms = flag_of(parlour)
        parlour.to(zero_ms)
        append = parlour.store.append

        def slow(**row: Any) -> Any:
            # A's move was received at zero; before it reaches the log, B sends junk.
            parlour.store.append = append  # type: ignore[method-assign]
            parlour.advance(5)
            junk = Parlour(store=parlour.store, sleep=lambda _: land(row))
            junk.match_id = parlour.match_id
            assert refusal(junk, BEN, Act(WIN)).code == "win_not_possible"
            return append(**row)

        def land(row: Any) -> None:
            append(**row)
            parlour.advance(GRACE_MS)

        parlour.store.append = slow  # type: ignore[method-assign]
        mover.act(A, discard("rC"), key=key("in time"))

        assert parlour.kinds[5:] == ["xqmj.tile_discarded"]
        assert parlour.log[5].at_ms == zero_ms

    def test_of_both_is_given_its_grace_too(self, parlour: Parlour) -> None:
        parlour.create()
        parlour.send(BEN, Join())
        due_ms = parlour.clock() + READY_MS + 1
        parlour.to(due_ms + 10)

        assert refusal(parlour, ANA, Ready()).code == "match_ended"

        assert parlour.clock() == due_ms + GRACE_MS
        assert parlour.log[-1].at_ms == due_ms

    def test_of_an_in_time_sender_is_settled_no_further_than_its_stamp(
        self, parlour: Parlour, rig: Rig
    ) -> None:
        rig.lay(CHOW_OFFERED)
        parlour.deal()
        parlour.act(A, discard("rC"))
        zero_ms = flag_of(parlour)
        parlour.to(zero_ms)
        lose_races(parlour, times=3, each_ms=GRACE_MS)

        parlour.act(B, CHOW)

        assert parlour.kinds[-1] == "xqmj.chow_made"
        assert parlour.log[-1].at_ms == zero_ms


class TestServiceGap:
    def test_gives_the_time_back_before_the_command(self, parlour: Parlour, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        parlour.deal()
        down_ms = parlour.clock()
        parlour.outage(1_000_000)

        parlour.act(A, discard("rC"))

        credit, discarded = parlour.log[-2:]
        assert credit.event == ClockCredited(
            down_from_ms=down_ms, down_until_ms=down_ms + 1_000_000, credit_ms=1_000_000
        )
        assert discarded.at_ms == credit.at_ms
        # 3+2: nothing was spent, the increment was added.
        assert parlour.match.clocks == (182_000, 180_000)

    def test_is_recorded_once_and_costs_two_trips_more(self, parlour: Parlour, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        parlour.deal()
        parlour.outage(5_000)
        parlour.trips()

        parlour.act(A, discard("rC"))

        assert parlour.trips() == ["load", "beat", "load", "append"]
        assert len(parlour.store.gaps) == 1

    def test_of_a_second_is_none(self, parlour: Parlour, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        parlour.deal()
        parlour.outage(1_000)

        parlour.act(A, discard("rC"))

        assert parlour.store.gaps == []
        assert parlour.match.clocks == (181_000, 180_000)

    def test_may_not_be_ended_by_a_worker(self, parlour: Parlour, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        parlour.deal()
        parlour.outage(1_000_000)
        worker = parlour.beside(may_beat=False)

        settled = worker.engine.settle(parlour.match_id, by="sweep")

        assert settled.events == ()
        assert "beat" not in parlour.trips()

    def test_that_a_deadline_fell_into_is_looked_at_first(self, parlour: Parlour, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        parlour.deal()
        zero_ms = flag_of(parlour)
        parlour.to(zero_ms - 50)
        parlour.outage(80)
        parlour.trips()

        # No gap: the service beats, so it was there when the flag fell.
        assert refusal(parlour, ANA, Act(discard("rC"))).code == "match_ended"
        assert parlour.trips() == ["load", "beat", "load", "append"]
        assert isinstance(parlour.log[-1].event, MatchEnded)
