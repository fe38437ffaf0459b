"""The computer's levels over many matches (rules document, section 14)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from matches.bots.expectation import Expectation, warm
from matches.bots.misty import RANDOM_SHARES
from matches.bots.policies import First, Greedy, Policy, distinct
from matches.games.protocol import Action, Auditor, Seat, SeatViewer, Viewer
from matches.games.tiles import NO_TILES, Counts, pack
from matches.games.xqmj.pieces import DECK_32
from matches.games.xqmj.rules import TwoPlayerRules
from matches.games.xqmj.state import HandState
from matches.games.xqmj.view import HandView, Side
from matches.management.ladder.climb import STEPS, Player, Step, play
from matches.management.ladder.table import play_hand, play_match
from tests.support.xqmj import two_player_rules

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


class Watched(Player):
    """A player of the ladder that is seen to do nothing but what is legal."""

    def choose(self, view: HandView, legal: Sequence[Action]) -> Action:
        action = super().choose(view, legal)
        assert action in legal
        return action


class Leaking(TwoPlayerRules):
    """A planted leak: rules whose seats see the wall and each other's tiles."""

    def view(self, state: HandState, viewer: Viewer) -> HandView:
        assert isinstance(viewer, SeatViewer)
        return replace(super().view(state, Auditor()), you=viewer.seat)


class Peeking:
    """Plays each action to the hand's end, as only one who sees everything can."""

    def __init__(self) -> None:
        self._rules = two_player_rules()
        self._other = Expectation(lambda: False)
        self._own: list[Policy] = [self._other, Greedy(), First()]

    def choose(self, view: HandView, legal: Sequence[Action]) -> Action:
        assert view.you is not None
        seat, state = view.you, full_state(view)
        return max(distinct(legal), key=lambda action: self._lead(state, seat, action))

    def _lead(self, state: HandState, seat: Seat, action: Action) -> int:
        """The most points that the seat can be ahead by after the action, as it goes on."""
        for event in self._rules.decide(state, seat, action):
            state = self._rules.evolve(state, event)
        return max(self._end(state, seat, policy) for policy in self._own)

    def _end(self, state: HandState, seat: Seat, policy: Policy) -> int:
        players = (policy, self._other) if seat == 0 else (self._other, policy)
        for _, after in play_hand(self._rules, state, players):
            state = after
        outcome = self._rules.outcome(state)
        assert outcome is not None
        return outcome.points[seat] - outcome.points[1 - seat]


def full_state(view: HandView) -> HandState:
    """The hand behind a view that hides nothing."""
    first, second = view.sides
    assert view.wall is not None
    assert view.turn is not None
    assert view.stage != "over"
    drawn_before = DECK_32[: len(DECK_32) - view.wall_left]
    return HandState(
        order=(*drawn_before, *view.wall),
        dealer=view.dealer,
        turn=view.turn,
        phase=view.stage,
        next_tile=len(drawn_before),
        concealed=(held(first), held(second)),
        melds=(melded(first), melded(second)),
        discards=(first.discards, second.discards),
        drawn=view.sides[view.turn].drawn,
        offered=view.offered,
    )


def held(side: Side) -> Counts:
    assert side.concealed is not None
    return pack((*side.concealed, *(() if side.drawn is None else (side.drawn,))))


def melded(side: Side) -> Counts:
    return NO_TILES if side.meld is None else pack(side.meld.tiles)


def setup_module() -> None:
    warm()


@pytest.mark.parametrize("step", STEPS[:-1], ids=lambda step: f"level {step.name}")
def test_a_level_beats_the_one_below(step: Step) -> None:
    assert play(step, seed="tests", first=0, count=400).score >= 0.55


def test_the_highest_level_is_near_greedy() -> None:
    """Honest play is flat above it: what is far better has seen what it may not see."""
    assert 0.45 < play(STEPS[-1], seed="tests", first=0, count=1_000).score < 0.60


def test_nothing_illegal_is_done_in_100_000_decisions() -> None:
    """All levels in turn, each at both seats; the rules would refuse it too."""
    rules, decisions, number = two_player_rules(), 0, 0
    while decisions < 100_000:
        match_id, level = number.to_bytes(16, "big"), 1 + number % len(RANDOM_SHARES)
        players = [Watched(level, b"illegal", match_id, Seat(seat)) for seat in range(2)]
        play_match(rules, b"illegal", match_id, players)
        decisions += sum(player.actions for player in players)
        number += 1


def test_a_player_that_peeks_is_found_out() -> None:
    """What the bounds above are for: whoever sees hidden tiles scores .94 or more."""
    rules, points = Leaking(two_player_rules().options), 0.0
    for number in range(100):
        secret = hashlib.sha256(b"leak").digest()
        match_id = number.to_bytes(16, "big")
        honest = Player(8, secret, match_id, Seat(0))
        theirs, own = play_match(rules, secret, match_id, (honest, Peeking()))
        points += 1.0 if own > theirs else 0.5 if own == theirs else 0.0

    assert points / 100 >= 0.94
