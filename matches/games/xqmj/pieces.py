"""One xiangqi set of 32 tiles, and the 66 winning hands in it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from matches.games.melds import SEQUENCES, Meld, MeldKind, Split, winning_hands
from matches.games.tiles import KINDS, UNIT, Counts, Tile, pack, piece

_COPIES: Mapping[str, int] = MappingProxyType({"K": 1, "P": 5})

DECK_32: tuple[Tile, ...] = tuple(
    kind for kind in KINDS for _ in range(_COPIES.get(piece(kind), 2))
)
"""All 32 tiles in canonical order (XM-1)."""

SOLDIER_TRIPLETS: tuple[Meld, ...] = (
    Meld("triplet", ("rP", "rP", "rP")),
    Meld("triplet", ("bP", "bP", "bP")),
)
"""The only triplets in one set (XM-5)."""

GENERALS_PAIR: tuple[Tile, Tile] = ("rK", "bK")
"""The only pair of two colours (XM-8)."""

MELDS_32: tuple[Meld, ...] = SEQUENCES + SOLDIER_TRIPLETS

_PAIRS_32: tuple[tuple[Tile, Tile], ...] = (
    *((kind, kind) for kind in KINDS if DECK_32.count(kind) >= 2),
    GENERALS_PAIR,
)

HANDS_32: Mapping[Counts, Split] = MappingProxyType(
    winning_hands(melds=MELDS_32, pairs=_PAIRS_32, meld_count=1, deck=pack(DECK_32))
)
"""Every winning multiset of five tiles (XM-9): 66, each with its only split (XM-10)."""


class Claim(msgspec.Struct, frozen=True, gc=False):
    """What a discard can be taken for: its `meld`, and the `rest` that the claimant must hold."""

    kind: MeldKind
    meld: Counts
    rest: Counts


CLAIMS_32: Mapping[Tile, Claim] = MappingProxyType(
    {
        tile: Claim(meld.kind, pack(meld.tiles), pack(meld.tiles) - UNIT[tile])
        for meld in MELDS_32
        for tile in meld.tiles
    }
)
"""Every kind belongs to exactly one meld, so a claim leaves nothing to choose (XM-27, XM-28)."""

MELD_OF: Mapping[Counts, Meld] = MappingProxyType({pack(meld.tiles): meld for meld in MELDS_32})
"""A meld by its tiles."""
