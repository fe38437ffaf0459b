"""Melds and pairs of xiangqi tiles, and the winning hands they make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations_with_replacement
from typing import Literal

import msgspec

from matches.games.tiles import Counts, Tile, contains, pack, unpack

MeldKind = Literal["sequence", "triplet"]
"""Three different pieces of one fixed group, or three tiles of one kind."""


class Meld(msgspec.Struct, frozen=True, gc=False):
    """A meld; `tiles` stand in canonical order."""

    kind: MeldKind
    tiles: tuple[Tile, ...]


SEQUENCES: tuple[Meld, ...] = (
    Meld("sequence", ("rK", "rA", "rE")),
    Meld("sequence", ("rR", "rH", "rC")),
    Meld("sequence", ("bK", "bA", "bE")),
    Meld("sequence", ("bR", "bH", "bC")),
)
"""The only sequences there are, all of one colour (XM-4, XM-6)."""


class Split(msgspec.Struct, frozen=True, gc=False):
    """How a winning hand divides; `tiles` are all of its tiles in canonical order."""

    tiles: tuple[Tile, ...]
    melds: tuple[Meld, ...]
    pair: tuple[Tile, Tile]


def winning_hands(
    *,
    melds: Iterable[Meld],
    pairs: Iterable[tuple[Tile, Tile]],
    meld_count: int,
    deck: Counts,
) -> Mapping[Counts, Split]:
    """Every multiset of `meld_count` melds and one pair that the deck allows, with its one split.

    Raises ValueError where a multiset has two splits: then a score would
    depend on the reading, and a ruleset must say which one counts (XM-10).
    """
    pairs = tuple(pairs)
    found: dict[Counts, Split] = {}
    for chosen in combinations_with_replacement(tuple(melds), meld_count):
        for pair in pairs:
            counts = pack([tile for meld in chosen for tile in meld.tiles] + list(pair))
            if not contains(deck, counts):
                continue
            if counts in found:
                raise ValueError(f"{unpack(counts)} splits in two ways")
            found[counts] = Split(unpack(counts), chosen, pair)
    return found
