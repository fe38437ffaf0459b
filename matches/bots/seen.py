"""What a seat knows of a hand, as far as a way of playing makes use of it."""

from __future__ import annotations

import msgspec

from matches.games.tiles import KINDS, NO_TILES, Counts, Tile, count, pack
from matches.games.xqmj.pieces import DECK_32
from matches.games.xqmj.view import HandView, Side

_DECK = pack(DECK_32)


class Seen(msgspec.Struct, frozen=True):
    """A seat's own tiles, and how many tiles of each kind it has not seen anywhere.

    `concealed` holds the drawn tile too, `meld` the exposed meld's tiles.
    `unseen` counts by index of the kind in canonical order, `left` in all.
    `against_meld`: the other seat has an exposed meld.
    """

    concealed: Counts
    meld: Counts
    unseen: tuple[int, ...]
    left: int
    against_meld: bool

    @classmethod
    def of(cls, view: HandView) -> Seen:
        """Read a seat's own view; raises ValueError for a view that is no seat's."""
        if view.you is None:
            raise ValueError("a policy plays a seat")
        own, other = view.sides[view.you], view.sides[1 - view.you]
        concealed = pack((*(own.concealed or ()), *(() if own.drawn is None else (own.drawn,))))
        hidden = _DECK - concealed - pack(_open(own)) - pack(_open(other))
        unseen = tuple(count(hidden, kind) for kind in KINDS)
        return cls(
            concealed=concealed,
            meld=pack(own.meld.tiles) if own.meld else NO_TILES,
            unseen=unseen,
            left=sum(unseen),
            against_meld=other.meld is not None,
        )


def _open(side: Side) -> list[Tile]:
    """The tiles of a side that lie open."""
    melded = list(side.meld.tiles) if side.meld else []
    return melded + [discarded.tile for discarded in side.discards]
