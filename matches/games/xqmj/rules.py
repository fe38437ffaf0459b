"""The rules of two-player xiangqi mahjong with 32 tiles (`xqmj-32-2p`, version 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never, cast

import msgspec

from matches.games.protocol import (
    Action,
    CorruptHistory,
    HandEvent,
    HandOutcome,
    Next,
    Seat,
    Timing,
    Viewer,
)
from matches.games.tiles import KINDS, MASK, UNIT, Tile, contains
from matches.games.xqmj import state as hand
from matches.games.xqmj import view as seen
from matches.games.xqmj.actions import Chow, Discard, HandAction, Pass, Pung, Win
from matches.games.xqmj.events import (
    EVENTS,
    ChowMade,
    ClaimPassed,
    HandVoided,
    HandWon,
    PungMade,
    TileDiscarded,
    TileDrawn,
)
from matches.games.xqmj.pieces import CLAIMS_32, DECK_32, HANDS_32
from matches.games.xqmj.refusals import refusal
from matches.games.xqmj.scoring import SCORES, How
from matches.games.xqmj.state import FIRST_WALL, OTHER, HandState, Phase

HANDS_A_MATCH = 6
"""Each seat deals three times (XM-13, XM-58)."""

_WIN, _CHOW, _PUNG, _PASS = Win(), Chow(), Pung(), Pass()
_DISCARD: Mapping[tuple[Tile, bool], Discard] = {
    (tile, drawn): Discard(tile=tile, drawn=drawn) for tile in KINDS for drawn in (False, True)
}
_MASKS: tuple[tuple[Tile, int], ...] = tuple((kind, MASK[kind]) for kind in KINDS)
_ACTION_OF: Mapping[type[HandEvent], Action] = {
    ChowMade: _CHOW,
    PungMade: _PUNG,
    ClaimPassed: _PASS,
    HandWon: _WIN,
}

_NOTHING_LEGAL: frozenset[Phase] = frozenset({"passed", "over"})
_CLOCK: tuple[Timing, Timing] = (Timing(Seat(0), False), Timing(Seat(1), False))
_TABLE: tuple[Timing, Timing] = (Timing(Seat(0), True), Timing(Seat(1), True))
_NOBODY = Timing(None, False)


class TwoPlayerRules:
    """`xqmj-32-2p`, version 1. Makes and reads `HandState` values; holds nothing that changes."""

    key: str = "xqmj-32-2p"
    version: int = 1
    seats: int = 2
    deck: tuple[str, ...] = DECK_32
    controls: tuple[str, ...] = ("1+1", "3+2", "5+5", "10+5")
    rated_controls: frozenset[str] = frozenset({"1+1", "3+2", "5+5"})
    pause_ms: int = 1_500
    pausing: frozenset[type[HandEvent]] = frozenset({TileDiscarded})
    crediting: frozenset[type[HandEvent]] = frozenset({TileDiscarded})
    events: tuple[type[HandEvent], ...] = EVENTS
    action: Any = HandAction

    # No option changes how a hand is dealt or folded, and folding is the hot path: one call less.
    deal = staticmethod(hand.deal)
    evolve = staticmethod(hand.evolve)

    def __init__(self, options: Mapping[str, str | int | bool]) -> None:
        self.options: Mapping[str, str | int | bool] = options
        self.absence_claim_ms = cast("int", options["absence_claim_ms"])
        self._meld_on_empty_wall = options["last_discard_claims"] == "all"

    def to_act(self, state: HandState) -> frozenset[Seat]:
        """The one seat that has a legal action; none where the table acts or the hand is over."""
        return frozenset({state.turn}) if self.legal(state, state.turn) else frozenset()

    def legal(self, state: HandState, seat: Seat) -> tuple[Action, ...]:
        """Every legal action: win, chow, pung, pass, then discards by kind, the drawn one last."""
        if seat != state.turn or state.phase in _NOTHING_LEGAL:
            return ()
        if state.phase == "offer":
            return self._answers(state)
        return _own_turn(state)

    def decide(self, state: HandState, seat: Seat, action: Action) -> tuple[HandEvent, ...]:
        """The one event that a legal action causes; raises `Rejected` for any other action."""
        if action not in self.legal(state, seat):
            raise refusal(state, seat, action, meld_on_empty_wall=self._meld_on_empty_wall)
        return (_event(state, cast("HandAction", action)),)

    def table(self, state: HandState) -> tuple[HandEvent, ...]:
        """The draw, or the void at an empty wall (XM-20, XM-42); nothing where a seat acts next."""
        if not self.timing(state).table:
            return ()
        return (TileDrawn(),) if state.wall_left else (HandVoided(),)

    def timing(self, state: HandState) -> Timing:
        """Whose clock runs: in an offer the responder's in every case (XM-35)."""
        if state.phase == "over":
            return _NOBODY
        if state.phase == "passed" or (state.phase == "offer" and not self._answers(state)):
            return _TABLE[state.turn]
        return _CLOCK[state.turn]

    def clock(self, state: HandState) -> Seat | None:
        """Whoever acts or answers next, whether or not there is a claim (XM-35, XM-64)."""
        return None if state.phase == "over" else state.turn

    def action_of(
        self,
        state: HandState,  # noqa: ARG002 - another game needs it to tell an act from a consequence
        event: HandEvent,
    ) -> Action | None:
        """The action behind an event; None for the table's draws and voids."""
        if isinstance(event, TileDiscarded):
            return _DISCARD[event.tile, event.drawn]
        return _ACTION_OF.get(type(event))

    def outcome(self, state: HandState) -> HandOutcome | None:
        """How the hand ended; only the winner's total changes (XM-41, XM-42, XM-50)."""
        if state.phase != "over":
            return None
        won = state.won
        if won is None:
            return HandOutcome("void", None, (0, 0))
        return HandOutcome(won.how, won.seat, (won.points, 0) if won.seat == 0 else (0, won.points))

    def view(self, state: HandState, viewer: Viewer) -> seen.HandView:
        """All that the viewer may know of the hand (XM-74 to XM-80)."""
        return seen.view(state, viewer)

    def dealt(self, state: HandState, viewer: Viewer) -> seen.HandView:
        """What the viewer learns at the deal: the view of the state just dealt."""
        return seen.view(state, viewer)

    def redact(self, state: HandState, event: HandEvent, viewer: Viewer) -> msgspec.Struct | None:
        """What the viewer learns from an event, given the state after it."""
        return seen.redact(state, event, viewer)

    def first_dealer(self, drawn: Seat) -> Seat:
        """The seat that was drawn deals first (XM-12)."""
        return drawn

    def next_hand(
        self,
        hand_no: int,
        dealer: Seat,
        outcome: HandOutcome,  # noqa: ARG002 - the deal passes whatever it was (XM-13)
    ) -> Next:
        """The deal alternates whatever the result; six hands in all (XM-13, XM-58)."""
        return Next(OTHER[dealer] if hand_no < HANDS_A_MATCH else None)

    def _answers(self, state: HandState) -> tuple[Action, ...]:
        """What the responder may do with the discard on offer; empty where it can only lie."""
        seat, tile = state.turn, _offered(state)
        answers: list[Action] = []
        if state.concealed[seat] + state.melds[seat] + UNIT[tile] in HANDS_32:
            answers.append(_WIN)
        if state.wall_left or self._meld_on_empty_wall:
            # A seat with a meld has one concealed tile, too few for another: XM-31 needs no check.
            claim = CLAIMS_32[tile]
            if contains(state.concealed[seat], claim.rest):
                answers.append(_CHOW if claim.kind == "sequence" else _PUNG)
        if not answers:
            return ()
        return (*answers, _PASS)


def _own_turn(state: HandState) -> tuple[Action, ...]:
    """A win on the tiles as they are (XM-23, XM-44), and every discard (XM-21)."""
    concealed, drawn = state.concealed[state.turn], state.drawn
    actions: list[Action] = []
    if state.phase != "after_claim" and concealed + state.melds[state.turn] in HANDS_32:
        actions.append(_WIN)
    kept = concealed if drawn is None else concealed - UNIT[drawn]
    for kind, mask in _MASKS:
        if kept & mask:
            actions.append(_DISCARD[kind, False])
        if kind == drawn:
            actions.append(_DISCARD[kind, True])
    return tuple(actions)


def _event(state: HandState, action: HandAction) -> HandEvent:
    match action:
        case Discard(tile=tile, drawn=drawn):
            return TileDiscarded(tile=tile, drawn=drawn)
        case Win():
            return _win(state)
        case Pass():
            return ClaimPassed()
        case Chow():
            return ChowMade(tile=_offered(state))
        case Pung():
            return PungMade(tile=_offered(state))
        case _:
            assert_never(action)


def _win(state: HandState) -> HandWon:
    """The win with its score, which is a recorded fact from now on."""
    seat, how = state.turn, _how(state)
    counts = state.concealed[seat] + state.melds[seat]
    if state.offered is not None:
        counts += UNIT[state.offered]
    score = SCORES[counts][how]
    return HandWon(
        seat=seat, how=how, tiles=HANDS_32[counts].tiles, lines=score.lines, points=score.points
    )


def _how(state: HandState) -> How:
    if state.offered is not None:
        return "discard"
    first_draw = state.next_tile == FIRST_WALL + 1 and not any(state.melds)
    if state.phase == "opening" or first_draw:
        # Without a claim the wall's first tile is the other seat's first draw (XM-44, XM-45).
        return "heavenly"
    return "self_draw" if state.wall_left else "last_tile_self_draw"


def _offered(state: HandState) -> Tile:
    if state.offered is None:
        raise CorruptHistory("an offer without a tile")
    return state.offered
