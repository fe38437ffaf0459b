from __future__ import annotations

import hashlib

import pytest

from matches.domain.clock import Due
from matches.domain.commands import Body, Join, Leave, Ready, Resign
from matches.domain.events import HandDealt, MatchEnded, SeatReady, SeatTaken, Stamped
from tests.support.sitting import (
    ANA,
    BEN,
    DEALER_WINS,
    EVE,
    MATCH_ID,
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


def _paired(at_ms: int = 0) -> Sitting:
    sitting = Sitting()
    sitting.send(at_ms, BEN, Join())
    return sitting


def _aborted(at_ms: int) -> Stamped:
    event = MatchEnded(
        reason="aborted", winner=None, seat=None, scores=(0, 0), secret=SECRET.hex(), clock=None
    )
    return Stamped(event, at_ms, None)


class TestJoin:
    def test_takes_the_open_seat(self) -> None:
        sitting = Sitting()

        caused = sitting.send(250, BEN, Join())

        assert caused == (Stamped(SeatTaken(seat=B, player=BEN), 250, B),)
        assert sitting.match.players == (ANA, BEN)
        assert (sitting.match.phase, sitting.match.since_ms) == ("readying", 250)

    def test_takes_whichever_seat_is_open(self) -> None:
        sitting = Sitting(players=(None, BEN))

        sitting.send(1, ANA, Join())

        assert sitting.match.players == (ANA, BEN)

    def test_lets_an_invited_player_in(self) -> None:
        sitting = Sitting(invited=BEN)

        assert kinds(sitting.send(1, BEN, Join())) == ["match.seat_taken"]

    def test_refuses_anybody_else_where_a_player_is_invited(self) -> None:
        assert Sitting(invited=BEN).refusal(1, EVE, Join()) == "not_invited"

    def test_refuses_who_sits_already(self) -> None:
        assert Sitting().refusal(1, ANA, Join()) == "already_seated"
        assert _paired().refusal(1, BEN, Join()) == "already_seated"

    def test_refuses_a_third_player(self) -> None:
        assert _paired().refusal(1, EVE, Join()) == "seat_taken"
        assert dealt().refusal(1, EVE, Join()) == "seat_taken"


class TestOpenLink:
    @pytest.mark.parametrize("at_ms", [3_599_999, 3_600_000])
    def test_lets_a_player_in_within_the_hour(self, at_ms: int) -> None:
        sitting = Sitting()

        sitting.send(at_ms, BEN, Join())

        assert sitting.match.phase == "readying"

    @pytest.mark.parametrize("at_ms", [3_600_001, 9_000_000])
    def test_ends_the_match_right_after_the_hour(self, at_ms: int) -> None:
        sitting = Sitting()

        assert sitting.refusal(at_ms, BEN, Join()) == "match_ended"
        assert sitting.log[1:] == [_aborted(3_600_001)]

    def test_counts_from_the_creation(self) -> None:
        sitting = Sitting(at_ms=500)

        assert sitting.due == Due(3_600_501, deadline=True, seat=None)
        assert sitting.settle(3_600_500) == ()
        assert sitting.settle(3_600_501) == (_aborted(3_600_501),)


class TestReady:
    def test_starts_nothing_alone(self) -> None:
        sitting = _paired()

        caused = sitting.send(10, BEN, Ready("00" * 8))

        assert caused == (Stamped(SeatReady(seat=B, hand=1, nonce="00" * 8), 10, B),)
        assert sitting.match.ready == (False, True)

    def test_deals_at_once_when_both_are(self, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        sitting = _paired()
        sitting.send(10, BEN, Ready("00" * 8))

        caused = sitting.send(20, ANA, Ready("ff" * 32))

        assert caused == (
            Stamped(SeatReady(seat=A, hand=1, nonce="ff" * 32), 20, A),
            Stamped(HandDealt(hand=1, dealer=A), 20, None),
        )
        assert sitting.match.nonces == (b"\xff" * 32, b"\0" * 8)

    @pytest.mark.parametrize("at_ms", [30_999, 31_000])
    def test_counts_within_thirty_seconds_of_being_paired(self, at_ms: int) -> None:
        """XM-57; stamped at the last instant it still stands (XM-67)."""
        sitting = _paired(at_ms=1_000)
        sitting.send(1_000, ANA, Ready())

        sitting.send(at_ms, BEN, Ready())

        assert sitting.match.phase == "playing"

    @pytest.mark.parametrize("ready", [(), (ANA,), (BEN,)])
    def test_comes_too_late_after_thirty_seconds(self, ready: tuple[str, ...]) -> None:
        """XM-57: aborted, with no result, whoever was ready."""
        sitting = _paired(at_ms=1_000)
        for player in ready:
            sitting.send(1_000, player, Ready())

        assert sitting.refusal(31_001, BEN, Ready()) == "match_ended"
        assert sitting.log[-1] == _aborted(31_001)

    def test_is_awaited_against_the_only_seat_that_is_not(self) -> None:
        sitting = _paired(at_ms=1_000)
        assert sitting.due == Due(31_001, deadline=True, seat=None)

        sitting.send(2_000, BEN, Ready())

        assert sitting.due == Due(31_001, deadline=True, seat=A)

    def test_is_refused_twice(self) -> None:
        sitting = _paired()
        sitting.send(1, BEN, Ready())

        assert sitting.refusal(2, BEN, Ready()) == "already_ready"

    def test_is_refused_where_nobody_waits_for_it(self) -> None:
        assert Sitting().refusal(1, ANA, Ready()) == "nothing_to_ready"
        assert dealt().refusal(1, ANA, Ready()) == "nothing_to_ready"

    def test_is_refused_to_who_does_not_sit(self) -> None:
        assert _paired().refusal(1, EVE, Ready()) == "not_a_seat"


class TestNonce:
    def test_follows_from_the_secret_for_a_seat_that_sends_none(self) -> None:
        sitting = _paired()

        (caused,) = sitting.send(1, BEN, Ready())

        digest = hashlib.sha256(b"xqmj nonce@1\0" + SECRET + MATCH_ID + b"\x01").hexdigest()
        assert caused.event == SeatReady(seat=B, hand=1, nonce=digest[:32])

    @pytest.mark.parametrize(
        "nonce",
        [
            "",
            "00" * 7,
            "00" * 33,
            "0" * 17,
            "AB" * 8,
            "zz" * 8,
            " 00" * 8,
            "0x" + "00" * 8,
            "é" * 8,
            "\ud800" * 16,
        ],
    )
    def test_is_refused_unless_it_is_8_to_32_bytes_in_lower_case_hex(self, nonce: str) -> None:
        assert _paired().refusal(1, BEN, Ready(nonce)) == "bad_nonce"

    def test_comes_too_late_between_hands(self, rig: Rig) -> None:
        rig.lay(DEALER_WINS)
        sitting = dealt()
        win_quickly(sitting, 5, A)

        assert sitting.refusal(6, ANA, Ready("00" * 8)) == "nonce_too_late"


class TestBeforeTheFirstDeal:
    @pytest.mark.parametrize("player", [ANA, BEN])
    def test_leaving_aborts_the_match(self, player: str) -> None:
        """Before the first deal nobody loses (XM-69 begins with it)."""
        sitting = _paired()

        (caused,) = sitting.send(50, player, Leave())

        assert isinstance(caused.event, MatchEnded)
        assert caused.event.reason == "aborted"
        assert caused.event.winner is None
        assert caused.event.seat == caused.actor == (A if player == ANA else B)

    def test_leaving_an_open_match_aborts_it(self) -> None:
        sitting = Sitting()

        sitting.send(50, ANA, Leave())

        assert (sitting.ended.reason, sitting.ended.winner) == ("aborted", None)

    @pytest.mark.parametrize("body", [Resign()])
    def test_there_is_nothing_to_resign(self, body: Body) -> None:
        assert Sitting().refusal(1, ANA, body) == "match_not_started"
        assert _paired().refusal(1, ANA, body) == "match_not_started"

    @pytest.mark.parametrize("body", [Leave(), Resign()])
    def test_a_stranger_has_no_say(self, body: Body) -> None:
        assert Sitting().refusal(1, BEN, body) == "not_a_seat"


class TestLeave:
    def test_by_the_invited_player_declines(self) -> None:
        sitting = Sitting(invited=BEN)

        (end,) = sitting.send(9, BEN, Leave())

        event = MatchEnded(reason="aborted", seat=B, scores=(0, 0), secret=SECRET.hex())
        assert end == Stamped(event, 9, B)
        assert sitting.match.players == (ANA, None)

    def test_takes_back_an_invitation(self) -> None:
        (end,) = Sitting(invited=BEN).send(9, ANA, Leave())

        assert (end.actor, end.event.reason) == (A, "aborted")  # type: ignore[union-attr]

    def test_by_the_invited_player_who_sits_leaves_the_table(self) -> None:
        sitting = dealt(invited=BEN)

        sitting.send(9, BEN, Leave())

        assert (sitting.ended.reason, sitting.ended.winner) == ("forfeit", A)

    def test_is_for_nobody_else(self) -> None:
        assert Sitting(invited=BEN).refusal(1, EVE, Leave()) == "not_a_seat"
        assert Sitting().refusal(1, EVE, Leave()) == "not_a_seat"

    @pytest.mark.parametrize("body", [Ready(), Resign()])
    def test_is_all_that_a_kept_seat_can_do(self, body: Body) -> None:
        assert Sitting(invited=BEN).refusal(1, BEN, body) == "not_a_seat"
