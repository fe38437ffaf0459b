"""The tiles of the games that are played with xiangqi pieces, and multisets of them.

A tile is only ever its kind (XM-2): no tile has an identity, so none can be
followed. A multiset of tiles is one integer, `Counts`, with five bits for each
kind: four for the number, one that stays free so that "is this part of that"
is one subtraction. It keeps no order at all, so no view can give one away;
adding and taking a tile is one addition, and a whole hand is a dictionary key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from matches.games.names import Names

Tile = Literal[
    "rK", "rA", "rE", "rR", "rH", "rC", "rP", "bK", "bA", "bE", "bR", "bH", "bC", "bP"
]  # fmt: skip
"""A kind of tile: colour (`r`, `b`) and piece (`K A E R H C P`), XM-3."""

KINDS: tuple[Tile, ...] = get_args(Tile)
"""All kinds in canonical order (XM-3)."""

Colour = Literal["r", "b"]
"""Red or black; the colour is the suit (XM-2)."""

Counts: TypeAlias = int
"""A multiset of tiles: the number of tiles of kind `KINDS[i]` in bits 5i to 5i + 3 (0 to 15)."""

NO_TILES: Counts = 0
"""The empty multiset."""

_BITS = 5
_SHIFT: Mapping[str, int] = {kind: _BITS * i for i, kind in enumerate(KINDS)}
_FREE_BITS = sum(16 << shift for shift in _SHIFT.values())

UNIT: Mapping[str, int] = {kind: 1 << _SHIFT[kind] for kind in KINDS}
"""What one tile of a kind adds to a `Counts`."""

MASK: Mapping[str, int] = {kind: 15 << _SHIFT[kind] for kind in KINDS}
"""The bits of a kind: `counts & MASK[kind]` is true where at least one tile of it is there."""

NAMES: Mapping[Tile, Names] = MappingProxyType(
    {
        "rK": Names("red General", "帅", "帥"),
        "rA": Names("red Advisor", "仕", "仕"),
        "rE": Names("red Elephant", "相", "相"),
        "rR": Names("red Chariot", "车", "俥"),
        "rH": Names("red Horse", "马", "傌"),
        "rC": Names("red Cannon", "炮", "炮"),
        "rP": Names("red Soldier", "兵", "兵"),
        "bK": Names("black General", "将", "將"),
        "bA": Names("black Advisor", "士", "士"),
        "bE": Names("black Elephant", "象", "象"),
        "bR": Names("black Chariot", "车", "車"),
        "bH": Names("black Horse", "马", "馬"),
        "bC": Names("black Cannon", "炮", "包"),
        "bP": Names("black Soldier", "卒", "卒"),
    }
)
"""What each kind is called (rules document, section 1)."""


def colour(tile: Tile) -> Colour:
    """The colour of a tile.

    >>> colour("bK")
    'b'
    """
    return "r" if tile[0] == "r" else "b"


def piece(tile: Tile) -> str:
    """The letter of a tile's piece, whatever its colour.

    >>> piece("bK")
    'K'
    """
    return tile[1]


def pack(tiles: Iterable[Tile]) -> Counts:
    """The multiset of some tiles, at most 15 of a kind."""
    return sum(UNIT[tile] for tile in tiles)


def unpack(counts: Counts) -> tuple[Tile, ...]:
    """The tiles of a multiset in canonical order.

    >>> unpack(pack(["bP", "rK", "bP"]))
    ('rK', 'bP', 'bP')
    """
    tiles: list[Tile] = []
    for kind in KINDS:
        here = counts & 15
        if here:
            tiles.extend((kind,) * here)
        counts >>= _BITS
        if not counts:
            break
    return tuple(tiles)


def count(counts: Counts, tile: Tile) -> int:
    """How many tiles of one kind a multiset holds."""
    return (counts >> _SHIFT[tile]) & 15


def size(counts: Counts) -> int:
    """How many tiles a multiset holds."""
    return sum((counts >> shift) & 15 for shift in _SHIFT.values())


def contains(counts: Counts, part: Counts) -> bool:
    """Whether `part` can be taken out of `counts`.

    >>> contains(pack(["rP", "rP"]), pack(["rP"])), contains(pack(["rP"]), pack(["rK"]))
    (True, False)
    """
    # A kind with too few tiles borrows its free bit.
    return (counts + _FREE_BITS - part) & _FREE_BITS == _FREE_BITS


def lacking(counts: Counts, whole: Counts) -> Counts:
    """The tiles of `whole` that `counts` has not got.

    >>> unpack(lacking(pack(["rP", "rK"]), pack(["rP", "rP", "bK"])))
    ('rP', 'bK')
    """
    difference = whole + _FREE_BITS - counts
    # The free bit is left where `whole` has no fewer of a kind, and 16 - 1 are that kind's bits.
    free = difference & _FREE_BITS
    return difference & (free - (free >> 4))
