"""The sweep, over a log in memory, and its loop."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import msgspec
import pytest

from matches import worker
from matches.domain.clock import GRACE_MS, READY_MS
from matches.domain.commands import Join
from matches.eventstore.pool import Unavailable
from matches.services.sweep import Backoff, Sweeper, Swept
from matches.worker import SweepLoop
from tests.support.parlour import Parlour
from tests.support.sitting import BEN, EVE, NOTHING_OFFERED, A, Rig
from tests.support.xqmj import discard


class Seconds:
    """A monotonic clock that the test moves."""

    def __init__(self) -> None:
        self.s = 100.0

    def __call__(self) -> float:
        return self.s


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def sweeper(parlour: Parlour, seconds: Seconds) -> Sweeper:
    """A sweeper in a worker's process: it may not beat."""
    return Sweeper(parlour.beside(may_beat=False).engine, backoff=Backoff(seconds))


class TestSweep:
    def test_lets_the_table_draw_at_its_instant(
        self, parlour: Parlour, rig: Rig, sweeper: Sweeper
    ) -> None:
        rig.lay(NOTHING_OFFERED)
        parlour.deal()
        parlour.act(A, discard("rC"))
        drawn_ms = parlour.clock() + 1_500
        parlour.advance(1_530)

        swept = sweeper.settle_due()

        assert (swept.settled, swept.failed, swept.late_ms) == (1, 0, (30,))
        assert parlour.log[-1].at_ms == drawn_ms

    def test_finds_nothing_before_its_time(
        self, parlour: Parlour, rig: Rig, sweeper: Sweeper
    ) -> None:
        rig.lay(NOTHING_OFFERED)
        parlour.deal()
        parlour.act(A, discard("rC"))
        parlour.advance(1_499)

        assert sweeper.settle_due().settled == 0
        assert parlour.kinds[-1] == "xqmj.tile_discarded"

    @pytest.mark.parametrize(("late_ms", "settled"), [(GRACE_MS - 1, 0), (GRACE_MS, 1)])
    def test_gives_a_deadline_its_grace(
        self, parlour: Parlour, sweeper: Sweeper, late_ms: int, settled: int
    ) -> None:
        parlour.create()
        parlour.send(BEN, Join())
        parlour.advance(READY_MS + 1 + late_ms)

        assert sweeper.settle_due().settled == settled

    def test_twice_changes_nothing(self, parlour: Parlour, sweeper: Sweeper) -> None:
        parlour.create()
        parlour.send(BEN, Join())
        parlour.advance(READY_MS + GRACE_MS + 1)

        first, second = sweeper.settle_due(), sweeper.settle_due()
        other = Sweeper(parlour.beside(may_beat=False).engine).settle_due()

        assert (first.settled, second.settled, other.settled) == (1, 0, 0)
        assert parlour.kinds.count("match.ended") == 1

    def test_never_beats(self, parlour: Parlour, sweeper: Sweeper) -> None:
        parlour.create()
        parlour.outage(10_000_000)
        parlour.trips()

        sweeper.settle_due()

        assert parlour.trips() == ["due"]
        assert parlour.kinds == ["match.created"]

    def test_takes_the_longest_due_first(self, parlour: Parlour, sweeper: Sweeper) -> None:
        ids = []
        for _ in range(3):
            parlour.create()
            parlour.send(BEN, Join())
            ids.append(parlour.match_id)
            parlour.advance(10)
        parlour.advance(READY_MS + GRACE_MS)

        sweeper.settle_due(limit=2)

        ended = [parlour.store.streams[one].status != 1 for one in ids]
        assert ended == [True, True, False]

    def test_says_when_it_is_needed_next(
        self, parlour: Parlour, rig: Rig, sweeper: Sweeper
    ) -> None:
        rig.lay(NOTHING_OFFERED)
        parlour.deal()
        parlour.act(A, discard("rC"))
        parlour.advance(1_500)

        swept = sweeper.settle_due()

        flag_ms = parlour.match.clock_from_ms + 180_000 + 1
        assert swept.next_dues_ms == (flag_ms + GRACE_MS,)
        assert swept.now_ms == parlour.clock()


class TestUnreadableMatch:
    @pytest.fixture
    def corrupt(self, parlour: Parlour) -> Parlour:
        """The match due longest cannot be read; another one is due after it."""
        parlour.create()
        parlour.send(BEN, Join())
        stream = parlour.store.streams[parlour.match_id]
        stream.rows[0] = msgspec.structs.replace(stream.rows[0], kind="xqmj.unheard_of")
        parlour.advance(1)
        parlour.create()
        parlour.send(EVE, Join())
        parlour.advance(READY_MS + GRACE_MS + 1)
        return parlour

    def test_starves_no_other(self, corrupt: Parlour, sweeper: Sweeper) -> None:
        first = sweeper.settle_due(limit=1)
        second = sweeper.settle_due(limit=1)

        assert (first.settled, first.failed) == (0, 1)
        assert (second.settled, second.failed) == (1, 0)
        assert corrupt.kinds[-1] == "match.ended"

    @pytest.mark.usefixtures("corrupt")
    def test_is_tried_again_after_longer_and_longer_rests(
        self, sweeper: Sweeper, seconds: Seconds
    ) -> None:
        tried = []
        for _ in range(4 * 120):
            tried.append(sweeper.settle_due().failed)
            seconds.s += 0.25
        at = [index / 4 for index, failed in enumerate(tried) if failed]

        assert at == [0, 0.25, 0.75, 1.75, 3.75, 7.75, 15.75, 31.75, 61.75, 91.75]


class TestLogThatGoesAway:
    def test_is_noticed_by_the_first_match_and_blamed_on_none(
        self, parlour: Parlour, sweeper: Sweeper, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for _ in range(20):
            parlour.create()
            parlour.send(BEN, Join())
        parlour.advance(READY_MS + GRACE_MS + 1)
        tried: list[Any] = []
        load = parlour.store.load

        def away(*args: Any, **_: Any) -> Any:
            tried.append(args)
            raise Unavailable("gone")

        monkeypatch.setattr(parlour.store, "load", away)
        assert (sweeper.settle_due().failed, len(tried)) == (20, 1)
        monkeypatch.setattr(parlour.store, "load", load)
        assert sweeper.settle_due().settled == 20


class TestBackoff:
    def test_forgets_a_match_that_moved_on(self, seconds: Seconds) -> None:
        backoff, match_id = Backoff(seconds), uuid4()
        backoff.rest(match_id)
        assert backoff.resting() == [match_id]
        backoff.settled(match_id)

        assert backoff.resting() == []

    def test_keeps_no_more_than_it_may(self, seconds: Seconds, monkeypatch: Any) -> None:
        monkeypatch.setattr("matches.services.sweep.MOST_RESTING", 5)
        backoff = Backoff(seconds)
        for _ in range(50):
            backoff.rest(uuid4())

        assert len(backoff.resting()) == 5


def swept(*, settled: int = 0, now_ms: int = 0, dues: tuple[int, ...] = ()) -> Swept:
    return Swept(settled, 0, (), now_ms, dues)


class TestLoop:
    def loop(self, answer: Swept | Exception, seconds: Seconds) -> SweepLoop:
        def settle_due() -> Swept:
            if isinstance(answer, Exception):
                raise answer
            return answer

        return SweepLoop(settle_due, clock=seconds)

    def test_looks_ten_times_a_second(self, seconds: Seconds) -> None:
        assert self.loop(swept(), seconds).once() == worker.EVERY_S == 0.1

    def test_looks_sooner_where_a_table_acts_sooner(self, seconds: Seconds) -> None:
        loop = self.loop(swept(now_ms=5_000, dues=(5_900, 5_040)), seconds)

        assert loop.once() == pytest.approx(0.04)

    def test_remembers_dues_of_earlier_sweeps(self, seconds: Seconds) -> None:
        answers = [swept(now_ms=5_000, dues=(5_130,)), swept(now_ms=5_100), swept(now_ms=5_200)]
        loop = SweepLoop(lambda: answers.pop(0), clock=seconds)

        assert [round(loop.once(), 3) for _ in range(3)] == [0.1, 0.03, 0.1]

    def test_goes_on_at_once_after_a_full_batch(self, seconds: Seconds) -> None:
        assert self.loop(swept(settled=200), seconds).once() == 0.0

    @pytest.mark.parametrize("fault", [Unavailable("away"), ValueError("a mistake")])
    def test_survives_a_fault(self, seconds: Seconds, fault: Exception) -> None:
        assert self.loop(fault, seconds).once() == worker.AFTER_FAULT_S

    def test_stops_when_told_to(self, parlour: Parlour, sweeper: Sweeper) -> None:
        parlour.create()
        parlour.send(BEN, Join())
        parlour.advance(READY_MS + GRACE_MS + 1)
        loop = SweepLoop(sweeper.settle_due)

        loop.start()
        for _ in range(500):
            if parlour.store.streams[parlour.match_id].status != 1:
                break
            loop._stop.wait(0.01)
        loop.stop()

        assert parlour.kinds[-1] == "match.ended"
        assert not loop._thread.is_alive()
