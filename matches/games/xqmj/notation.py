"""Tiles and melds in words, in every language of the interfaces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from matches.games.melds import Meld, MeldKind
from matches.games.names import Lang, Names
from matches.games.tiles import NAMES, Tile

_MELDS: Mapping[MeldKind, Names] = MappingProxyType(
    {
        "sequence": Names("sequence", "顺子", "順子"),
        "triplet": Names("triplet", "刻子", "刻子"),
    }
)


def tile_text(tile: Tile, lang: Lang) -> str:
    """The name of a tile.

    >>> tile_text("rR", "en"), tile_text("rR", "zh-Hant")
    ('red Chariot', '俥')
    """
    return NAMES[tile].in_(lang)


def tiles_text(tiles: Iterable[Tile], lang: Lang) -> str:
    """Several tiles in the order given; Chinese names are one character each and need no comma.

    >>> tiles_text(["rK", "bP"], "en"), tiles_text(["rK", "bP"], "zh-Hans")
    ('red General, black Soldier', '帅卒')
    """
    return (", " if lang == "en" else "").join(tile_text(tile, lang) for tile in tiles)


def meld_text(meld: Meld, lang: Lang) -> str:
    """A meld with its kind.

    >>> meld_text(Meld("sequence", ("rR", "rH", "rC")), "zh-Hant")
    '順子 俥傌炮'
    """
    return f"{_MELDS[meld.kind].in_(lang)} {tiles_text(meld.tiles, lang)}"
