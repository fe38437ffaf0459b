"""The facts of a hand (kinds `xqmj.*`).

None of them holds a tile that is still hidden: a drawn tile follows from the
order of the deal. Whose act it was follows from the state before it.
"""

from __future__ import annotations

from typing import ClassVar

from matches.games.protocol import HandEvent, Seat
from matches.games.tiles import Tile
from matches.games.xqmj.scoring import How, ScoreLine


class TileDrawn(HandEvent, frozen=True, kw_only=True):
    """The table gave the next wall tile to the seat whose turn it is (XM-18, XM-20)."""

    KIND: ClassVar[str] = "xqmj.tile_drawn"


class TileDiscarded(HandEvent, frozen=True, kw_only=True):
    """The seat whose turn it was discarded; `drawn`: the tile it had just drawn (XM-21, XM-22)."""

    KIND: ClassVar[str] = "xqmj.tile_discarded"

    tile: Tile
    drawn: bool


class ChowMade(HandEvent, frozen=True, kw_only=True):
    """The responder took the discard `tile` for a sequence, now exposed (XM-27, XM-29)."""

    KIND: ClassVar[str] = "xqmj.chow_made"

    tile: Tile


class PungMade(HandEvent, frozen=True, kw_only=True):
    """The responder took the discarded soldier `tile` for a triplet, now exposed (XM-28, XM-29)."""

    KIND: ClassVar[str] = "xqmj.pung_made"

    tile: Tile


class ClaimPassed(HandEvent, frozen=True, kw_only=True):
    """The responder let the discard lie; private to its seat (XM-38)."""

    KIND: ClassVar[str] = "xqmj.claim_passed"


class HandWon(HandEvent, frozen=True, kw_only=True):
    """A seat won. `tiles` are its five in canonical order, `points` the sum of `lines` (XM-50)."""

    KIND: ClassVar[str] = "xqmj.hand_won"

    seat: Seat
    how: How
    tiles: tuple[Tile, ...]
    lines: tuple[ScoreLine, ...]
    points: int


class HandVoided(HandEvent, frozen=True, kw_only=True):
    """The wall was empty and the last discard was not won (流局, XM-42)."""

    KIND: ClassVar[str] = "xqmj.hand_voided"


EVENTS: tuple[type[HandEvent], ...] = (
    TileDrawn,
    TileDiscarded,
    ChowMade,
    PungMade,
    ClaimPassed,
    HandWon,
    HandVoided,
)
"""Every kind of event of a hand."""
