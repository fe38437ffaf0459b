"""Why the game refuses an action.

Every code depends only on what the refused seat may know: a seat whose turn it
is not learns nothing else, whatever the other seat holds, weighs or has passed.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from matches.games.protocol import Action, Rejected, Seat
from matches.games.tiles import MASK
from matches.games.xqmj.actions import Discard, Pass, Pung, Win
from matches.games.xqmj.state import HandState

REFUSALS: Mapping[str, str] = MappingProxyType(
    {
        "hand_over": "The hand is over; nothing more can be done in it.",
        "not_your_turn": "The hand does not wait for such an action of this seat now.",
        "tile_not_held": "The seat does not hold this tile concealed.",
        "drawn_mismatch": (
            "`drawn` is wrong: true means the tile just drawn, false another concealed tile."
        ),
        "win_not_possible": "The tiles are not a winning hand, or it may not be declared here.",
        "claim_not_possible": "The discard cannot be taken for this meld.",
        "no_claim_to_answer": "The discard cannot be claimed, so there is nothing to pass.",
        "already_passed": "The seat has already passed on this discard, for good.",
        "claim_window_over": "No discard is on offer to this seat.",
    }
)
"""Each code with one line of meaning. A refusal's detail `rule` names the rule behind it."""


def refusal(state: HandState, seat: Seat, action: Action, *, meld_on_empty_wall: bool) -> Rejected:
    """The refusal of an action that is not legal, with the rule behind it."""
    if state.phase == "over":
        return Rejected("hand_over", rule="XM-41")
    if seat != state.turn:
        return Rejected("not_your_turn", rule="XM-25")
    if state.offered is None:
        return _refused_turn(state, action)
    return _refused_answer(state, action, meld_on_empty_wall)


def _refused_turn(state: HandState, action: Action) -> Rejected:
    match action:
        case Discard(tile=tile):
            held = state.concealed[state.turn] & MASK[tile]
            return Rejected("drawn_mismatch" if held else "tile_not_held", rule="XM-21")
        case Win():
            after_claim = state.phase == "after_claim"
            return Rejected("win_not_possible", rule="XM-23" if after_claim else "XM-9")
        case _:
            return Rejected("claim_window_over", rule="XM-25")


def _refused_answer(state: HandState, action: Action, meld_on_empty_wall: bool) -> Rejected:
    match action:
        case Discard():
            return Rejected("not_your_turn", rule="XM-18")
        case _ if state.phase == "passed":
            return Rejected("already_passed", rule="XM-38")
        case Win():
            return Rejected("win_not_possible", rule="XM-26")
        case Pass():
            return Rejected("no_claim_to_answer", rule="XM-39")
        case _:
            rule = _rule_against_meld(state, action, meld_on_empty_wall)
            return Rejected("claim_not_possible", rule=rule)


def _rule_against_meld(state: HandState, action: Action, meld_on_empty_wall: bool) -> str:
    if state.melds[state.turn]:
        return "XM-31"
    if not state.wall_left and not meld_on_empty_wall:
        return "XM-33"
    return "XM-28" if isinstance(action, Pung) else "XM-27"
