from __future__ import annotations

import pytest

from matches.domain import deal
from matches.domain.clock import Due
from matches.domain.commands import Act, Ready
from matches.domain.events import HandDealt, MatchEnded, SeatReady, Stamped
from matches.games.protocol import HandOutcome, Seat
from tests.support.sitting import (
    ANA,
    BEN,
    DEALER_WINS,
    NOTHING_OFFERED,
    OTHER_WINS,
    SECRET,
    A,
    B,
    Rig,
    Sitting,
    dealt,
    idle,
    kinds,
    timeline,
    win_quickly,
)
from tests.support.xqmj import WIN, discard


def _next_hand(sitting: Sitting, at_ms: int) -> None:
    sitting.send(at_ms, ANA, Ready())
    sitting.send(at_ms, BEN, Ready())


def _play_out(sitting: Sitting, winners: tuple[Seat, ...]) -> None:
    """Play one hand a winner, every hand a second after the one before."""
    for number, winner in enumerate(winners, 1):
        win_quickly(sitting, 1_000 * number, winner)
        if number < 6:
            _next_hand(sitting, 1_000 * number)


class TestFirstDealer:
    @pytest.mark.parametrize("dealer", [A, B])
    def test_is_the_seat_that_was_drawn(
        self, dealer: Seat, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """XM-12."""
        monkeypatch.setattr(deal, "first_dealer", lambda *_: dealer)

        sitting = dealt()

        assert sitting.log[-1].event == HandDealt(hand=1, dealer=dealer)
        assert (sitting.match.dealer, sitting.match.on_clock) == (dealer, dealer)

    @pytest.mark.parametrize("dealer", [A, B])
    def test_of_a_rematch_is_given(self, dealer: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(deal, "first_dealer", lambda *_: Seat(1 - dealer))
        sitting = Sitting(players=(ANA, BEN), rematch_of="c0de" * 8, first_dealer=dealer)

        _next_hand(sitting, 5)

        assert sitting.log[-1].event == HandDealt(hand=1, dealer=dealer)


class TestDeal:
    def test_alternates_whatever_the_result(self, rig: Rig) -> None:
        """XM-13, XM-58: each seat deals three of the six hands."""
        rig.lay(DEALER_WINS, OTHER_WINS)
        sitting = dealt()

        _play_out(sitting, (A, A, B, A, B, A))

        assert [
            stamped.event.dealer for stamped in sitting.log if isinstance(stamped.event, HandDealt)
        ] == [0, 1, 0, 1, 0, 1]

    def test_passes_after_a_void_hand(self, rig: Rig) -> None:
        """XM-42."""
        rig.lay(NOTHING_OFFERED)
        sitting = dealt()
        last_ms = idle(sitting, 0, wall_left=0)

        sitting.settle(last_ms + 1_500)
        _next_hand(sitting, last_ms + 1_500)

        assert sitting.match.outcomes == (HandOutcome("void", None, (0, 0)),)
        assert sitting.match.scores == (0, 0)
        assert sitting.log[-1].event == HandDealt(hand=2, dealer=B)

    def test_takes_the_order_of_each_hand_from_secret_nonces_and_number(self) -> None:
        sitting = dealt()

        nonces = tuple(
            deal.nonce_for(SECRET, sitting.match.setup.match_id, seat) for seat in (A, B)
        )
        rules = sitting.match.setup.rules
        assert sitting.match.nonces == nonces
        assert sitting.match.hand.order == deal.order(
            SECRET, sitting.match.setup.match_id, nonces, 1, rules.deck
        )


class TestIntermission:
    def _won(self, rig: Rig) -> Sitting:
        rig.lay(DEALER_WINS, NOTHING_OFFERED)
        sitting = dealt()
        win_quickly(sitting, 4_000, A)
        return sitting

    def test_follows_the_hand_at_once(self, rig: Rig) -> None:
        sitting = self._won(rig)

        assert (sitting.match.phase, sitting.match.since_ms) == ("intermission", 4_000)
        assert (sitting.match.on_clock, sitting.match.ready) == (None, (False, False))
        assert sitting.due == Due(14_000, deadline=False)

    def test_ends_after_ten_seconds(self, rig: Rig) -> None:
        """XM-59."""
        sitting = self._won(rig)

        assert sitting.settle(13_999) == ()
        assert sitting.settle(14_000) == (Stamped(HandDealt(hand=2, dealer=B), 14_000, None),)

    def test_carries_the_instant_it_ended_however_late_it_is_noticed(self, rig: Rig) -> None:
        sitting = self._won(rig)

        assert timeline(sitting.settle(20_000)) == [("match.hand_dealt", 14_000)]

    def test_ends_at_once_when_both_are_ready(self, rig: Rig) -> None:
        """XM-59."""
        sitting = self._won(rig)
        sitting.send(4_500, ANA, Ready())
        assert sitting.due == Due(14_000, deadline=False)

        caused = sitting.send(6_000, BEN, Ready())

        assert caused == (
            Stamped(SeatReady(seat=B, hand=2, nonce=None), 6_000, B),
            Stamped(HandDealt(hand=2, dealer=B), 6_000, None),
        )

    def test_ends_after_ten_seconds_though_only_one_is_ready(self, rig: Rig) -> None:
        sitting = self._won(rig)
        sitting.send(4_500, ANA, Ready())

        assert timeline(sitting.settle(14_000)) == [("match.hand_dealt", 14_000)]

    def test_is_over_for_a_ready_at_its_end(self, rig: Rig) -> None:
        sitting = self._won(rig)

        assert sitting.refusal(14_000, ANA, Ready()) == "nothing_to_ready"

    def test_allows_no_action(self, rig: Rig) -> None:
        sitting = self._won(rig)

        assert sitting.refusal(4_001, ANA, Act(WIN)) == "hand_over"
        assert sitting.refusal(4_001, BEN, Act(discard("rC"))) == "hand_over"

    def test_stops_both_clocks(self, rig: Rig) -> None:
        """XM-63, XM-64: the next dealer's clock runs from the deal."""
        sitting = self._won(rig)
        assert sitting.match.clocks == (176_000, 180_000)

        sitting.settle(14_000)

        assert sitting.match.clocks == (176_000, 180_000)
        assert (sitting.match.on_clock, sitting.match.clock_from_ms) == (B, 14_000)

    def test_leaves_no_pause_behind(self, rig: Rig) -> None:
        """A win inside a pause, and the next deal before that pause would have ended."""
        rig.lay(OTHER_WINS, NOTHING_OFFERED)
        sitting = dealt()
        win_quickly(sitting, 100, B)

        _next_hand(sitting, 200)

        assert (sitting.match.pause_until_ms, sitting.match.clock_from_ms) == (200, 200)

    def test_does_not_follow_the_sixth_hand(self, rig: Rig) -> None:
        """XM-59."""
        rig.lay(DEALER_WINS)
        sitting = dealt()
        _play_out(sitting, (A, B, A, B, A))

        caused = sitting.send(7_000, BEN, Act(WIN))

        assert kinds(caused) == ["xqmj.hand_won", "match.ended"]
        assert [stamped.at_ms for stamped in caused] == [7_000, 7_000]
        assert [stamped.actor for stamped in caused] == [B, None]


class TestResult:
    def _after(self, rig: Rig, winners: tuple[Seat, ...]) -> Sitting:
        """Each winner that deals scores 6, each other winner 1 (rules, 15.1 and XM-46)."""
        rig.lay(
            *(
                DEALER_WINS if winner == number % 2 else OTHER_WINS
                for number, winner in enumerate(winners)
            )
        )
        sitting = dealt()
        _play_out(sitting, winners)
        return sitting

    def test_comes_after_six_hands_though_the_lead_cannot_be_caught(self, rig: Rig) -> None:
        """XM-58: after hand 5 it stands 20 to 0."""
        sitting = self._after(rig, (A, A, A, A, A, A))

        assert sitting.match.hand_no == 6
        assert sitting.match.scores == (21, 0)
        assert [outcome.points for outcome in sitting.match.outcomes] == [
            (6, 0),
            (1, 0),
            (6, 0),
            (1, 0),
            (6, 0),
            (1, 0),
        ]

    @pytest.mark.parametrize(
        ("winners", "scores", "winner"),
        [
            ((A, B, A, B, A, A), (19, 12), A),
            ((A, B, B, B, B, B), (6, 20), B),
            ((A, B, A, B, A, B), (18, 18), None),
        ],
    )
    def test_goes_to_the_higher_total_and_equal_totals_are_a_draw(
        self, rig: Rig, winners: tuple[Seat, ...], scores: tuple[int, int], winner: Seat | None
    ) -> None:
        """XM-60, XM-61: one result, the margin is no part of it."""
        sitting = self._after(rig, winners)

        assert sitting.ended == MatchEnded(
            reason="score", winner=winner, seat=None, scores=scores, secret=SECRET.hex(), clock=None
        )
        assert sitting.log[-1].actor is None
