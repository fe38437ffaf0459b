"""Claiming the win against a seat that has gone in its turn (XM-87)."""

from __future__ import annotations

from typing import Any

import pytest

from matches.domain import match as matches
from matches.domain.absence import Absence, absence
from matches.domain.clock import Gap
from matches.domain.commands import ClaimAbsence, Command
from matches.domain.events import MatchEnded
from matches.games.protocol import Rejected
from tests.support.sitting import ANA, BEN, CHOW_OFFERED, EVE, A, B, Rig, Sitting, dealt
from tests.support.xqmj import discard

WAITED_MS = 60_000


@pytest.fixture
def sitting(rig: Rig) -> Sitting:
    """Dealt at 0; seat 0 has 180 s from then on, and is to discard."""
    rig.lay(CHOW_OFFERED)
    return dealt()


def refused(sitting: Sitting, at_ms: int, player: str, seen_ms: int = 0) -> tuple[str, Any]:
    """Code and facts of the refusal of a claim."""
    sitting.settle(at_ms)
    with pytest.raises(Rejected) as refusal:
        matches.decide(sitting.match, Command(at_ms, player, ClaimAbsence(seen_ms)))
    return refusal.value.code, refusal.value.detail


class TestClaim:
    def test_wins_after_the_whole_wait_and_not_a_millisecond_before(self, sitting: Sitting) -> None:
        early = refused(sitting, WAITED_MS - 1, BEN)
        assert early == ("not_absent", {"claim_at_ms": WAITED_MS})

        (stamped,) = sitting.send(WAITED_MS, BEN, ClaimAbsence(0))

        event = stamped.event
        assert isinstance(event, MatchEnded)
        assert (event.reason, event.winner, event.seat) == ("absence", B, A)
        assert event.absent_from_ms == 0
        assert event.clock == (60_000, 120_000)
        assert (stamped.at_ms, stamped.actor) == (60_000, B)

    def test_counts_from_the_last_activity(self, sitting: Sitting) -> None:
        assert refused(sitting, 70_000, BEN, seen_ms=10_001)[1] == {"claim_at_ms": 70_001}

        (stamped,) = sitting.send(70_000, BEN, ClaimAbsence(10_000))

        assert isinstance(stamped.event, MatchEnded)
        assert stamped.event.absent_from_ms == 10_000

    def test_is_not_for_the_seat_to_act(self, sitting: Sitting) -> None:
        assert refused(sitting, 100_000, ANA) == ("not_absent", {})

    def test_is_not_for_strangers(self, sitting: Sitting) -> None:
        assert refused(sitting, 100_000, EVE)[0] == "not_a_seat"

    def test_counts_only_the_seat_s_own_turn(self, sitting: Sitting) -> None:
        """Whoever was away while the other thought is given the whole wait."""
        sitting.discard(50_000, A, "rC")
        # The pause ends at 51,500, and with it the turn of seat 1 begins.
        assert refused(sitting, 111_499, ANA) == ("not_absent", {"claim_at_ms": 111_500})

        (stamped,) = sitting.send(111_500, ANA, ClaimAbsence(0))

        assert isinstance(stamped.event, MatchEnded)
        assert (stamped.event.winner, stamped.event.absent_from_ms) == (A, 51_500)

    def test_is_not_possible_in_the_pause(self, sitting: Sitting) -> None:
        sitting.discard(50_000, A, "rC")

        assert refused(sitting, 51_000, ANA) == ("not_absent", {})

    def test_tells_nothing_of_the_first_ten_seconds(self, sitting: Sitting) -> None:
        """Whether the seat was just there, or did anything in the pause, is not the other's."""
        assert refused(sitting, 9_999, BEN) == ("not_absent", {})
        assert refused(sitting, 10_000, BEN) == ("not_absent", {"claim_at_ms": 60_000})
        assert refused(sitting, 29_999, BEN, seen_ms=20_000) == ("not_absent", {})

    def test_does_not_count_the_time_of_an_outage(self, sitting: Sitting) -> None:
        gap = Gap(20_000, 30_000)
        sitting.settle(89_999, gaps=(gap,))
        assert refused(sitting, 89_999, BEN) == ("not_absent", {"claim_at_ms": 90_000})

        (stamped,) = sitting.send(90_000, BEN, ClaimAbsence(0))

        assert isinstance(stamped.event, MatchEnded)
        # The clock got ten seconds back: it has run for 80 of the 90.
        assert stamped.event.clock == (80_000, 100_000)
        assert stamped.event.absent_from_ms == 30_000

    def test_comes_too_late_after_the_flag(self, rig: Rig) -> None:
        rig.lay(CHOW_OFFERED)
        sitting = dealt(control="1+1")

        assert refused(sitting, 60_001, BEN)[0] == "match_ended"
        assert sitting.ended.reason == "flag"

    def test_is_not_possible_before_the_first_deal(self) -> None:
        sitting = Sitting()

        assert refused(sitting, 5, ANA) == ("not_absent", {})

    @pytest.mark.parametrize(("option", "at_ms"), [(30_000, 30_000), (120_000, 120_000)])
    def test_waits_as_long_as_the_option_says(self, rig: Rig, option: int, at_ms: int) -> None:
        rig.lay(CHOW_OFFERED)
        sitting = dealt(options={"absence_claim_ms": option})
        assert refused(sitting, at_ms - 1, BEN)[0] == "not_absent"

        (stamped,) = sitting.send(at_ms, BEN, ClaimAbsence(0))

        assert isinstance(stamped.event, MatchEnded)
        assert stamped.event.reason == "absence"

    def test_is_never_possible_where_the_option_is_off(self, rig: Rig) -> None:
        rig.lay(CHOW_OFFERED)
        sitting = dealt(options={"absence_claim_ms": 0})

        assert refused(sitting, 179_000, BEN) == ("not_absent", {})


class TestAbsence:
    def test_says_who_and_from_when_on(self, sitting: Sitting) -> None:
        assert absence(sitting.match, seen_ms=4_000) == Absence(A, 4_000, 64_000)

    def test_is_nobody_s_between_hands(self) -> None:
        assert absence(Sitting().match, seen_ms=0) is None


def test_a_move_before_the_claim_takes_it_away(sitting: Sitting) -> None:
    sitting.act(59_999, A, discard("rC"))

    assert refused(sitting, 60_000, BEN) == ("not_absent", {})
