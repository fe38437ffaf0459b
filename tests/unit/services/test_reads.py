"""Reads: they settle what is due, with grace, and give downtime back."""

from __future__ import annotations

import pytest

from matches.domain.clock import GRACE_MS, INTERMISSION_MS, OPEN_MS, READY_MS
from matches.domain.commands import Join
from matches.services.errors import ServiceError
from tests.support.parlour import Parlour
from tests.support.sitting import BEN, DEALER_WINS, NOTHING_OFFERED, A, Rig
from tests.support.xqmj import WIN, discard


class TestRead:
    def test_of_a_match_at_rest_is_one_trip(self, parlour: Parlour) -> None:
        parlour.deal()
        parlour.trips()

        parlour.observe()

        assert parlour.trips() == ["load"]

    def test_lets_the_table_draw(self, parlour: Parlour, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        parlour.deal()
        parlour.act(A, discard("rC"))
        drawn_ms = parlour.clock() + 1_500
        parlour.advance(9_000)

        parlour.observe()

        assert parlour.kinds[-1] == "xqmj.tile_drawn"
        assert parlour.log[-1].at_ms == drawn_ms

    def test_deals_the_next_hand_when_the_intermission_is_over(
        self, parlour: Parlour, rig: Rig
    ) -> None:
        rig.lay(DEALER_WINS)
        parlour.deal()
        parlour.act(A, WIN)
        dealt_ms = parlour.clock() + INTERMISSION_MS
        parlour.advance(INTERMISSION_MS + 700)

        parlour.observe()

        assert parlour.kinds[-1] == "match.hand_dealt"
        assert parlour.log[-1].at_ms == dealt_ms

    @pytest.mark.parametrize(("late_ms", "ended"), [(GRACE_MS - 1, False), (GRACE_MS, True)])
    def test_gives_a_deadline_its_grace(self, parlour: Parlour, late_ms: int, ended: bool) -> None:
        parlour.create()
        due_ms = parlour.clock() + OPEN_MS + 1
        parlour.to(due_ms + late_ms)

        match = parlour.observe().match

        assert (match.ended is not None) == ended
        assert not ended or match.at_ms == due_ms

    def test_settles_once_however_many_look(self, parlour: Parlour) -> None:
        parlour.create()
        parlour.send(BEN, Join())
        parlour.advance(READY_MS + GRACE_MS + 1)
        others = [parlour.beside() for _ in range(3)]

        for one in (parlour, *others, parlour):
            one.observe()

        assert parlour.kinds == ["match.created", "match.seat_taken", "match.ended"]

    def test_gives_downtime_back_instead_of_the_flag(self, parlour: Parlour) -> None:
        parlour.create()
        parlour.send(BEN, Join())
        parlour.advance(READY_MS - 1_000)
        parlour.outage(60_000)

        assert parlour.observe().match.ended is None
        assert parlour.kinds[-1] == "match.clock_credited"
        parlour.advance(1_000 + GRACE_MS)
        assert parlour.observe().match.ended is None
        parlour.advance(1)
        assert parlour.observe().match.ended is not None

    def test_knows_the_clock_of_its_load(self, parlour: Parlour) -> None:
        parlour.create()
        parlour.advance(4_321)

        assert parlour.observe().now_ms == parlour.clock()

    def test_of_an_unknown_match_is_refused(self, parlour: Parlour) -> None:
        with pytest.raises(ServiceError) as refused:
            parlour.observe()

        assert refused.value.code == "unknown_match"
