from __future__ import annotations

import random
import re
from pathlib import Path

import msgspec
import pytest

from matches import domain
from matches.domain import match as matches
from matches.domain.events import ClockCredited, HandDealt, MatchEnded, SeatReady, Stamped
from matches.games.protocol import CorruptHistory, HandEvent, Seat
from matches.games.xqmj.events import ChowMade, HandVoided, TileDiscarded, TileDrawn
from tests.support.roving import Roving
from tests.support.sitting import (
    CHOW_OFFERED,
    DEALER_WINS,
    NOTHING_OFFERED,
    A,
    B,
    Rig,
    Sitting,
    created,
    dealt,
    win_quickly,
)

CODES = {
    "already_ready",
    "already_seated",
    "bad_nonce",
    "hand_over",
    "match_ended",
    "match_not_started",
    "nonce_too_late",
    "not_a_seat",
    "not_absent",
    "not_invited",
    "nothing_to_ready",
    "seat_taken",
    "unknown_control",
    "unrated_control",
}
"""Every refusal of the match itself; those of rulesets and of the hand are the games'."""


class OtherGame:
    """A game in which any event gives the turn to seat 1, also within a pause."""

    pausing: frozenset[type[HandEvent]] = frozenset()

    def evolve(self, state: object, _event: HandEvent) -> object:
        return state

    def clock(self, _state: object) -> Seat:
        return B


class TestEvolve:
    def test_takes_charges_as_they_are_recorded(self, rig: Rig) -> None:
        """Facts stay facts: a clock is never worked out again."""
        rig.lay(NOTHING_OFFERED)
        sitting = dealt()
        event = TileDiscarded(tile="rC", drawn=False, clock=(7, 5))

        after = matches.evolve(sitting.match, Stamped(event, 1_000, A))

        assert after.clocks == (5, 180_000)
        assert (after.version, after.at_ms) == (sitting.match.version + 1, 1_000)

    def test_leaves_the_match_before_it_alone(self, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        sitting = dealt()
        before = sitting.match

        sitting.discard(1_000, A, "rC")

        assert before == sitting.refolded(sitting.log[:-1])

    def test_keeps_the_clock_s_start_through_a_claim_and_a_draw(self, rig: Rig) -> None:
        """XM-37, XM-40."""
        rig.lay(CHOW_OFFERED)
        sitting = dealt()
        sitting.discard(0, A, "rC")

        chow = matches.evolve(sitting.match, Stamped(ChowMade(tile="rC"), 9_000, B))
        draw = matches.evolve(sitting.match, Stamped(TileDrawn(), 9_000, None))

        assert chow.clock_from_ms == draw.clock_from_ms == 1_500

    @pytest.mark.parametrize(("at_ms", "from_ms"), [(900, 1_500), (1_500, 1_500), (1_501, 1_501)])
    def test_starts_another_seat_s_clock_at_the_pause_s_end_at_the_earliest(
        self, rig: Rig, at_ms: int, from_ms: int
    ) -> None:
        rig.lay(NOTHING_OFFERED)
        match = dealt().match
        setup = msgspec.structs.replace(match.setup, rules=OtherGame())
        paused = msgspec.structs.replace(match, setup=setup, pause_until_ms=1_500)

        after = matches.evolve(paused, Stamped(TileDrawn(), at_ms, None))

        assert (after.on_clock, after.clock_from_ms) == (B, from_ms)

    def test_moves_only_what_a_credit_is_for(self, rig: Rig) -> None:
        rig.lay(NOTHING_OFFERED)
        credit = ClockCredited(down_from_ms=100, down_until_ms=400, credit_ms=300)

        playing = matches.evolve(dealt().match, Stamped(credit, 400, None))
        waiting = matches.evolve(Sitting().match, Stamped(credit, 400, None))

        assert (playing.clock_from_ms, playing.since_ms) == (300, 0)
        assert (waiting.clock_from_ms, waiting.since_ms) == (0, 300)
        assert playing.credited_ms == waiting.credited_ms == 400

    @pytest.mark.parametrize(
        "event",
        [
            TileDrawn(),
            HandVoided(),
            TileDiscarded(tile="rP", drawn=True),
            created(),
        ],
    )
    def test_calls_what_cannot_follow_corrupt(self, rig: Rig, event: object) -> None:
        rig.lay(NOTHING_OFFERED)

        with pytest.raises(CorruptHistory):
            matches.evolve(dealt().match, Stamped(event, 5, None))  # type: ignore[arg-type]

    def test_calls_a_hand_s_event_between_hands_corrupt(self, rig: Rig) -> None:
        rig.lay(DEALER_WINS)
        sitting = dealt()
        win_quickly(sitting, 5, A)

        with pytest.raises(CorruptHistory):
            matches.evolve(sitting.match, Stamped(TileDrawn(), 6, None))

    @pytest.mark.parametrize(
        "event",
        [
            SeatReady(seat=A, hand=1),
            HandDealt(hand=1, dealer=A),
            MatchEnded(reason="aborted", scores=(0, 0), secret="00"),
        ],
    )
    def test_calls_anything_after_the_end_corrupt(self, event: object) -> None:
        sitting = Sitting()
        sitting.settle(9_999_999)

        with pytest.raises(CorruptHistory):
            matches.evolve(sitting.match, Stamped(event, 9_999_999, None))  # type: ignore[arg-type]


class TestRefusals:
    def test_are_all_listed(self) -> None:
        """What the code can say is what docs/errors.md has to explain."""
        folder = Path(domain.__path__[0])
        said = {
            code
            for file in folder.glob("*.py")
            for code in re.findall(r'Rejected\("(\w+)"', file.read_text(encoding="utf-8"))
        }

        assert said == CODES

    def test_are_reached_by_people_who_try_everything(self) -> None:
        heard = {
            code
            for seed in range(40)
            for code in Roving(random.Random(seed), hasty=seed % 2 == 0).play().refused
        }

        assert heard >= CODES - {"not_invited", "unknown_control", "unrated_control"}
