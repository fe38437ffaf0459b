"""What a seat may do in a hand, as it is said on the wire."""

from __future__ import annotations

from matches.games.protocol import Action
from matches.games.tiles import Tile


class Discard(Action, frozen=True, kw_only=True, tag="discard"):
    """Discard a concealed tile: the one just drawn, or with `drawn` false another one (XM-21)."""

    tile: Tile
    drawn: bool


class Win(Action, frozen=True, kw_only=True, tag="win"):
    """Win on the discard on offer (XM-26), on the tile just drawn, or at the opening (XM-23)."""


class Chow(Action, frozen=True, kw_only=True, tag="chow"):
    """Take the discard on offer for a sequence (XM-27)."""


class Pung(Action, frozen=True, kw_only=True, tag="pung"):
    """Take the soldier on offer for a triplet (XM-28)."""


class Pass(Action, frozen=True, kw_only=True, tag="pass"):
    """Let the discard on offer lie, for good (XM-25, XM-38)."""


HandAction = Discard | Win | Chow | Pung | Pass
"""Every action of the game."""
