from __future__ import annotations

from collections.abc import Callable

import pytest

from matches.domain import match as matches
from matches.domain.commands import Act, Body, Command, Join, Leave, Ready, Resign
from matches.domain.events import EndReason, MatchEnded, Stamped
from matches.games.protocol import CorruptHistory, Rejected, Seat
from matches.games.xqmj.events import ClaimPassed, TileDrawn
from tests.support.sitting import (
    ANA,
    BEN,
    CHOW_OFFERED,
    DEALER_WINS,
    EVE,
    NOTHING_OFFERED,
    SECRET,
    A,
    B,
    Rig,
    Sitting,
    dealt,
    kinds,
    win_quickly,
)
from tests.support.xqmj import CHOW, PASS, discard


def _opening(rig: Rig) -> Sitting:
    rig.lay(NOTHING_OFFERED)
    return dealt()


def _pause(rig: Rig) -> Sitting:
    rig.lay(CHOW_OFFERED)
    sitting = dealt()
    sitting.discard(0, A, "rC")
    return sitting


def _passed(rig: Rig) -> Sitting:
    sitting = _pause(rig)
    sitting.act(10, B, PASS)
    return sitting


def _after_a_meld(rig: Rig) -> Sitting:
    sitting = _pause(rig)
    sitting.act(10, B, CHOW)
    return sitting


def _intermission(rig: Rig) -> Sitting:
    rig.lay(DEALER_WINS)
    sitting = dealt()
    win_quickly(sitting, 20, A)
    return sitting


def _intermission_half_ready(rig: Rig) -> Sitting:
    sitting = _intermission(rig)
    sitting.send(30, ANA, Ready())
    return sitting


SITUATIONS: list[Callable[[Rig], Sitting]] = [
    _opening,
    _pause,
    _passed,
    _after_a_meld,
    _intermission,
    _intermission_half_ready,
]
EVERY_COMMAND: list[Body] = [
    Join(),
    Ready(),
    Act(PASS),
    Act(discard("rC")),
    Resign(),
    Leave(),
]


class TestGivingUp:
    @pytest.mark.parametrize("situation", SITUATIONS)
    @pytest.mark.parametrize("seat", [A, B])
    @pytest.mark.parametrize(("body", "reason"), [(Resign(), "resignation"), (Leave(), "forfeit")])
    def test_is_possible_at_any_time_and_loses(
        self,
        rig: Rig,
        situation: Callable[[Rig], Sitting],
        seat: Seat,
        body: Body,
        reason: EndReason,
    ) -> None:
        """XM-69, XM-70: in either seat's turn, in a pause, in an intermission."""
        sitting = situation(rig)

        (caused,) = sitting.send(1_000, sitting.player(seat), body)

        ended = caused.event
        assert isinstance(ended, MatchEnded)
        assert (ended.reason, ended.winner, ended.seat) == (reason, 1 - seat, seat)
        assert (caused.at_ms, caused.actor) == (1_000, seat)
        assert ended.secret == SECRET.hex()

    def test_loses_whatever_the_score(self, rig: Rig) -> None:
        """XM-69."""
        sitting = _intermission(rig)

        sitting.send(1_000, ANA, Resign())

        assert (sitting.ended.scores, sitting.ended.winner) == ((6, 0), B)

    def test_is_not_for_strangers(self, rig: Rig) -> None:
        sitting = _opening(rig)

        assert sitting.refusal(1, EVE, Resign()) == "not_a_seat"
        assert sitting.refusal(1, EVE, Leave()) == "not_a_seat"
        assert sitting.refusal(1, EVE, Act(PASS)) == "not_a_seat"

    @pytest.mark.parametrize(
        ("situation", "clock", "clocks"),
        [
            (_opening, (4_000, 176_000), (176_000, 180_000)),
            (_after_a_meld, (2_500, 177_500), (182_000, 177_500)),
            (_intermission, None, (179_980, 180_000)),
        ],
    )
    def test_charges_the_clock_that_ran(
        self,
        rig: Rig,
        situation: Callable[[Rig], Sitting],
        clock: tuple[int, int] | None,
        clocks: tuple[int, int],
    ) -> None:
        """Whoever gives up, it is the seat on the clock whose time it was."""
        sitting = situation(rig)

        sitting.send(4_000, ANA, Resign())

        assert sitting.ended.clock == clock
        assert sitting.match.clocks == clocks

    def test_charges_nothing_in_a_pause(self, rig: Rig) -> None:
        sitting = _pause(rig)

        sitting.send(1_499, ANA, Resign())

        assert sitting.ended.clock == (0, 180_000)

    def test_comes_after_what_the_table_owed_before(self, rig: Rig) -> None:
        sitting = _passed(rig)

        sitting.send(1_500, ANA, Resign())

        assert sitting.log[-2] == Stamped(TileDrawn(), 1_500, None)


class TestTheEnd:
    @pytest.mark.parametrize("body", EVERY_COMMAND)
    @pytest.mark.parametrize("player", [ANA, BEN, EVE])
    def test_is_followed_by_nothing(self, rig: Rig, body: Body, player: str) -> None:
        """XM-71."""
        sitting = _pause(rig)
        sitting.send(100, ANA, Resign())

        assert sitting.refusal(101, player, body) == "match_ended"
        assert sitting.settle(10_000_000) == ()
        assert matches.due_at(sitting.match) is None

    def test_is_the_first_in_the_order_of_the_log(self, rig: Rig) -> None:
        """XM-71: both resign in the same millisecond."""
        sitting = _opening(rig)

        sitting.send(77, BEN, Resign())

        assert sitting.refusal(77, ANA, Resign()) == "match_ended"
        assert sitting.ended.winner == A

    def test_is_the_flag_where_it_fell_before_the_other_seat_resigned(self, rig: Rig) -> None:
        sitting = _opening(rig)

        assert sitting.refusal(180_001, BEN, Resign()) == "match_ended"
        assert (sitting.ended.reason, sitting.ended.winner) == ("flag", B)

    def test_is_the_resignation_where_it_came_at_zero(self, rig: Rig) -> None:
        sitting = _opening(rig)

        sitting.send(180_000, BEN, Resign())

        assert (sitting.ended.reason, sitting.ended.winner) == ("resignation", A)
        assert sitting.ended.clock == (180_000, 0)

    def test_stops_the_clocks(self, rig: Rig) -> None:
        sitting = _opening(rig)

        sitting.send(500, BEN, Resign())

        assert (sitting.match.phase, sitting.match.on_clock) == ("ended", None)

    @pytest.mark.parametrize(
        "event",
        [
            ClaimPassed(),
            MatchEnded(reason="score", scores=(0, 0), secret=SECRET.hex()),
        ],
    )
    def test_makes_any_later_event_corrupt(self, rig: Rig, event: object) -> None:
        sitting = _passed(rig)
        sitting.send(100, ANA, Resign())

        with pytest.raises(CorruptHistory):
            matches.evolve(sitting.match, Stamped(event, 101, None))  # type: ignore[arg-type]


class TestRefusals:
    def test_come_before_the_first_deal(self) -> None:
        sitting = Sitting()
        assert sitting.refusal(1, ANA, Act(discard("rC"))) == "match_not_started"

        sitting.send(1, BEN, Join())

        assert sitting.refusal(2, BEN, Act(discard("rC"))) == "match_not_started"

    def test_carry_nothing_but_the_code_in_the_match(self) -> None:
        with pytest.raises(Rejected) as refused:
            matches.decide(Sitting().match, Command(1, EVE, Resign()))

        assert dict(refused.value.detail) == {}

    def test_of_the_hand_come_from_the_game(self, rig: Rig) -> None:
        sitting = _opening(rig)

        assert sitting.refusal(1, BEN, Act(discard("rE"))) == "not_your_turn"
        assert sitting.refusal(1, ANA, Act(discard("bP"))) == "tile_not_held"
        assert kinds(sitting.log)[-1] == "match.hand_dealt"
