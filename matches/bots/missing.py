"""What four tiles miss to the winning hands that they can still become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from math import perm

import msgspec

from matches.games.tiles import KINDS, Counts, contains, lacking, unpack
from matches.games.xqmj.pieces import HANDS_32
from matches.games.xqmj.scoring import SCORES

_INDEX: Mapping[str, int] = {kind: index for index, kind in enumerate(KINDS)}


class Missing(msgspec.Struct, frozen=True, gc=False):
    """What is missing to one winning hand.

    `tiles` are (index of kind, how many), `distance` is their number in all,
    `points` what the hand scores on a discard.
    """

    tiles: tuple[tuple[int, int], ...]
    distance: int
    points: int

    def ways(self, unseen: Sequence[int]) -> int:
        """In how many ways the missing tiles can be taken one by one from the unseen ones."""
        ways = 1
        for kind, number in self.tiles:
            ways *= perm(unseen[kind], number)
        return ways


@cache
def all_missing(concealed: Counts, meld: Counts) -> tuple[Missing, ...]:
    """What four tiles miss to each winning hand that keeps their exposed meld, nearest first."""
    tiles = concealed + meld
    found = [
        _missing(hand, lacking(tiles, hand))
        for hand, split in HANDS_32.items()
        if not meld or contains(hand, meld)
    ]
    return tuple(sorted(found, key=lambda missing: missing.distance))


@cache
def _missing(hand: Counts, lacked: Counts) -> Missing:
    # Positions share these: there are few ways to lack tiles of one hand, and many positions.
    tiles = unpack(lacked)
    return Missing(
        tiles=tuple((_INDEX[kind], tiles.count(kind)) for kind in dict.fromkeys(tiles)),
        distance=len(tiles),
        points=SCORES[hand]["discard"].points,
    )
