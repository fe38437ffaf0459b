"""What each viewer may know of a hand (rules document, section 13).

Everything here is built up from nothing: a field stays at its default, which
tells nothing, until a line below shows it to a viewer who may see it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, assert_never

import msgspec

from matches.games.melds import Meld
from matches.games.protocol import Auditor, HandEvent, Seat, SeatViewer, Spectator, Viewer
from matches.games.tiles import UNIT, Tile, size, unpack
from matches.games.xqmj.events import (
    ChowMade,
    ClaimPassed,
    HandVoided,
    HandWon,
    PungMade,
    TileDiscarded,
    TileDrawn,
)
from matches.games.xqmj.pieces import MELD_OF
from matches.games.xqmj.scoring import How, ScoreLine
from matches.games.xqmj.state import OTHER, Discarded, HandState

Stage = Literal["opening", "after_draw", "after_claim", "offer", "over"]
"""What everybody knows of a hand's phase: that an offer has been passed is no part of it."""


class Side(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One seat's side of the table.

    `held` is how many concealed tiles it has, the drawn one included.
    `concealed` are these tiles in canonical order without the drawn one, which
    is `drawn`; both are None where the viewer may not see them.
    """

    held: int
    concealed: tuple[Tile, ...] | None = None
    drawn: Tile | None = None
    meld: Meld | None = None
    discards: tuple[Discarded, ...] = ()


class Result(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a hand ended. A void hand has `how` and nothing else (XM-42, XM-78)."""

    how: How | Literal["void"]
    winner: Seat | None = None
    tiles: tuple[Tile, ...] = ()
    lines: tuple[ScoreLine, ...] = ()
    points: int = 0


class HandView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A hand as one viewer may see it (XM-74).

    `you` is the viewer's seat. `turn` acts, or answers the discard `offered`.
    `passed` is true only for a seat that has passed on it itself (XM-38).
    `wall` is the rest of the wall in the order of drawing, for auditors only.
    """

    you: Seat | None = None
    dealer: Seat
    stage: Stage
    turn: Seat | None = None
    offered: Tile | None = None
    passed: bool = False
    wall_left: int
    wall: tuple[Tile, ...] | None = None
    sides: tuple[Side, Side]
    result: Result | None = None


class DrawSeen(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A seat drew; the tile stands here for that seat only."""

    seat: Seat
    tile: Tile | None = None


class DiscardSeen(msgspec.Struct, frozen=True, gc=False):
    """A seat discarded, shaded where `drawn` (XM-22); nothing tells where the tile sat (XM-75)."""

    seat: Seat
    tile: Tile
    drawn: bool


class MeldSeen(msgspec.Struct, frozen=True, gc=False):
    """A seat took the discard `tile` and exposed `meld`."""

    seat: Seat
    tile: Tile
    meld: Meld


class PassSeen(msgspec.Struct, frozen=True, gc=False):
    """A seat passed on the discard; only that seat is told (XM-38)."""

    seat: Seat


class WinSeen(msgspec.Struct, frozen=True, gc=False):
    """A seat won; its five tiles and its score are shown to everybody (XM-78)."""

    seat: Seat
    how: How
    tiles: tuple[Tile, ...]
    lines: tuple[ScoreLine, ...]
    points: int


class VoidSeen(msgspec.Struct, frozen=True, gc=False):
    """The hand is void; no tiles are shown (XM-78)."""


Seen = DrawSeen | DiscardSeen | MeldSeen | PassSeen | WinSeen | VoidSeen
"""What a viewer learns from an event."""


def view(state: HandState, viewer: Viewer) -> HandView:
    """The hand as the viewer may see it."""
    over = state.phase == "over"
    auditor = isinstance(viewer, Auditor)
    return HandView(
        you=viewer.seat if isinstance(viewer, SeatViewer) else None,
        dealer=state.dealer,
        stage="offer" if state.phase == "passed" else state.phase,
        turn=None if over else state.turn,
        offered=state.offered,
        passed=state.phase == "passed" and _sees(viewer, state.turn),
        wall_left=state.wall_left,
        wall=state.order[state.next_tile :] if auditor else None,
        sides=(_side(state, Seat(0), viewer), _side(state, Seat(1), viewer)),
        result=_result(state) if over else None,
    )


def redact(state: HandState, event: HandEvent, viewer: Viewer) -> Seen | None:
    """What the viewer learns from an event, given the state after it; None for nothing at all."""
    show = _SHOW.get(type(event))
    # A kind of event that nobody has decided about is shown to nobody.
    return None if show is None else show(state, event, viewer)


def _show_draw(state: HandState, _event: TileDrawn, viewer: Viewer) -> DrawSeen:
    return DrawSeen(state.turn, state.drawn if _sees(viewer, state.turn) else None)


def _show_discard(state: HandState, event: TileDiscarded, _viewer: Viewer) -> DiscardSeen:
    return DiscardSeen(OTHER[state.turn], event.tile, event.drawn)


def _show_meld(state: HandState, event: ChowMade | PungMade, _viewer: Viewer) -> MeldSeen:
    return MeldSeen(state.turn, event.tile, MELD_OF[state.melds[state.turn]])


def _show_pass(state: HandState, _event: ClaimPassed, viewer: Viewer) -> PassSeen | None:
    return PassSeen(state.turn) if _sees(viewer, state.turn) else None


def _show_win(_state: HandState, event: HandWon, _viewer: Viewer) -> WinSeen:
    return WinSeen(event.seat, event.how, event.tiles, event.lines, event.points)


def _show_void(_state: HandState, _event: HandVoided, _viewer: Viewer) -> VoidSeen:
    return VoidSeen()


def _sees(viewer: Viewer, seat: Seat) -> bool:
    """Whether the viewer may see what the seat alone knows."""
    match viewer:
        case SeatViewer(seat=own):
            return own == seat
        case Auditor():
            return True
        case Spectator():
            return False
        case _:
            assert_never(viewer)


def _side(state: HandState, seat: Seat, viewer: Viewer) -> Side:
    counts = state.concealed[seat]
    meld = MELD_OF.get(state.melds[seat])
    if not _sees(viewer, seat):
        return Side(held=size(counts), meld=meld, discards=state.discards[seat])
    drawn = state.drawn if seat == state.turn else None
    return Side(
        held=size(counts),
        concealed=unpack(counts if drawn is None else counts - UNIT[drawn]),
        drawn=drawn,
        meld=meld,
        discards=state.discards[seat],
    )


def _result(state: HandState) -> Result:
    won = state.won
    if won is None:
        return Result(how="void")
    return Result(how=won.how, winner=won.seat, tiles=won.tiles, lines=won.lines, points=won.points)


_SHOW: Mapping[type[HandEvent], Callable[[HandState, Any, Viewer], Seen | None]] = {
    TileDrawn: _show_draw,
    TileDiscarded: _show_discard,
    ChowMade: _show_meld,
    PungMade: _show_meld,
    ClaimPassed: _show_pass,
    HandWon: _show_win,
    HandVoided: _show_void,
}
