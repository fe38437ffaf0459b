"""The state of a hand for two, and how each event changes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from matches.games.melds import MeldKind
from matches.games.protocol import CorruptHistory, HandEvent, Seat
from matches.games.tiles import MASK, NO_TILES, UNIT, Counts, Tile, contains, pack
from matches.games.xqmj.events import (
    ChowMade,
    ClaimPassed,
    HandVoided,
    HandWon,
    PungMade,
    TileDiscarded,
    TileDrawn,
)
from matches.games.xqmj.pieces import CLAIMS_32, DECK_32

FIRST_WALL = 9
"""Where the wall begins in the order of the deal: five tiles and four are dealt (XM-15)."""
LAST_WALL = 32
"""Where it ends."""

Phase = Literal["opening", "after_draw", "after_claim", "offer", "passed", "over"]
"""What the hand is at.

`opening`: the dealer has five tiles and has drawn none. `after_draw`,
`after_claim`: the seat has five and discards. `offer`: a discard lies before
the responder. `passed`: the responder let it lie, the table has not yet gone
on. `over`: won or void.
"""

OTHER: tuple[Seat, Seat] = (Seat(1), Seat(0))
"""The other seat of each seat."""

_OFFERED: frozenset[Phase] = frozenset({"offer", "passed"})
_TO_DISCARD: frozenset[Phase] = frozenset({"opening", "after_draw", "after_claim"})


class Discarded(msgspec.Struct, frozen=True, gc=False):
    """A tile in a discard row; `drawn` is its shading: it had just been drawn (XM-22)."""

    tile: Tile
    drawn: bool


class HandState(msgspec.Struct, frozen=True, gc=False):
    """Everything there is to know of a hand, hidden tiles included.

    `order` is the order of the deal; its wall tiles before `next_tile` have
    been drawn. `turn` is the seat that acts, draws or answers next. `concealed`
    and `melds` are multisets by seat: concealed tiles with the drawn one, and
    the tiles of the exposed meld. `drawn` is the tile that `turn` has just
    drawn, `offered` the discard that lies before it.
    """

    order: tuple[Tile, ...]
    dealer: Seat
    turn: Seat
    phase: Phase
    next_tile: int
    concealed: tuple[Counts, Counts]
    melds: tuple[Counts, Counts]
    discards: tuple[tuple[Discarded, ...], tuple[Discarded, ...]]
    drawn: Tile | None = None
    offered: Tile | None = None
    won: HandWon | None = None

    @property
    def wall_left(self) -> int:
        """How many tiles are left in the wall; public (XM-16)."""
        return LAST_WALL - self.next_tile


def deal(order: tuple[str, ...], dealer: Seat) -> HandState:
    """The hand after its deal: positions 1–5 to the dealer, 6–9 to the other seat (XM-15).

    Raises `CorruptHistory` unless `order` is an order of the 32 tiles.
    """
    tiles: tuple[Any, ...] = tuple(order)
    if sorted(tiles) != sorted(DECK_32):
        raise CorruptHistory("the deal is not an order of the 32 tiles")
    own, other = pack(tiles[:5]), pack(tiles[5:FIRST_WALL])
    return HandState(
        order=tiles,
        dealer=dealer,
        turn=dealer,
        phase="opening",
        next_tile=FIRST_WALL,
        concealed=(own, other) if dealer == 0 else (other, own),
        melds=(NO_TILES, NO_TILES),
        discards=((), ()),
    )


def evolve(state: HandState, event: HandEvent) -> HandState:
    """The state after an event.

    Whether the event was legal is not asked: facts stay facts. Raises
    `CorruptHistory` where it cannot have happened after this state.
    """
    step = _STEPS.get(type(event))
    if step is None:
        raise CorruptHistory(f"{type(event).__name__} is no event of this game")
    return step(state, event)


def _drawn(state: HandState, _event: TileDrawn) -> HandState:
    if state.phase not in _OFFERED or state.next_tile == LAST_WALL:
        raise CorruptHistory(f"no tile can be drawn in phase {state.phase}")
    tile = state.order[state.next_tile]
    return replace(
        state,
        phase="after_draw",
        next_tile=state.next_tile + 1,
        concealed=_added(state.concealed, state.turn, UNIT[tile]),
        drawn=tile,
        offered=None,
    )


def _discarded(state: HandState, event: TileDiscarded) -> HandState:
    seat, tile = state.turn, event.tile
    if state.phase not in _TO_DISCARD or not state.concealed[seat] & MASK[tile]:
        raise CorruptHistory(f"seat {seat} cannot discard {tile}")
    row = Discarded(tile, event.drawn)
    rows = state.discards
    return replace(
        state,
        turn=OTHER[seat],
        phase="offer",
        concealed=_added(state.concealed, seat, -UNIT[tile]),
        discards=((*rows[0], row), rows[1]) if seat == 0 else (rows[0], (*rows[1], row)),
        drawn=None,
        offered=tile,
    )


def _melded(state: HandState, event: ChowMade | PungMade) -> HandState:
    seat, tile = state.turn, event.tile
    claim = CLAIMS_32[tile]
    if state.offered != tile or claim.kind != _KIND_OF[type(event)]:
        raise CorruptHistory(f"{tile} is not on offer for such a meld")
    if not contains(state.concealed[seat], claim.rest):
        raise CorruptHistory(f"seat {seat} cannot meld {tile}")
    return replace(
        state,
        phase="after_claim",
        concealed=_added(state.concealed, seat, -claim.rest),
        melds=_added(state.melds, seat, claim.meld),
        discards=_taken(state),
        offered=None,
    )


def _passed(state: HandState, _event: ClaimPassed) -> HandState:
    if state.phase != "offer":
        raise CorruptHistory(f"nothing can be passed in phase {state.phase}")
    return replace(state, phase="passed")


def _won(state: HandState, event: HandWon) -> HandState:
    if state.phase == "over" or event.seat != state.turn:
        raise CorruptHistory(f"seat {event.seat} cannot win")
    if state.offered is None:
        return replace(state, phase="over", won=event)
    return replace(
        state,
        phase="over",
        concealed=_added(state.concealed, event.seat, UNIT[state.offered]),
        discards=_taken(state),
        offered=None,
        won=event,
    )


def _voided(state: HandState, _event: HandVoided) -> HandState:
    if state.phase not in _OFFERED or state.wall_left:
        raise CorruptHistory("the hand cannot be void yet")
    return replace(state, phase="over", offered=None)


def _added(counts: tuple[Counts, Counts], seat: Seat, tiles: int) -> tuple[Counts, Counts]:
    first, second = counts
    return (first + tiles, second) if seat == 0 else (first, second + tiles)


def _taken(state: HandState) -> tuple[tuple[Discarded, ...], tuple[Discarded, ...]]:
    """The discard rows without the tile on offer: whoever claims it takes it away (XM-29)."""
    first, second = state.discards
    return (first[:-1], second) if state.turn == 1 else (first, second[:-1])


_KIND_OF: Mapping[type[HandEvent], MeldKind] = {ChowMade: "sequence", PungMade: "triplet"}
_STEPS: Mapping[type[HandEvent], Callable[[HandState, Any], HandState]] = {
    TileDrawn: _drawn,
    TileDiscarded: _discarded,
    ChowMade: _melded,
    PungMade: _melded,
    ClaimPassed: _passed,
    HandWon: _won,
    HandVoided: _voided,
}
