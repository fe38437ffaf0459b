"""Tiles and multisets of them (XM-1 to XM-3)."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matches.games.names import LANGS
from matches.games.tiles import (
    KINDS,
    NAMES,
    Tile,
    colour,
    contains,
    count,
    lacking,
    pack,
    piece,
    size,
    unpack,
)

some_tiles = st.lists(st.sampled_from(KINDS), max_size=15)


class TestKinds:
    def test_stand_in_canonical_order(self) -> None:
        assert " ".join(KINDS) == "rK rA rE rR rH rC rP bK bA bE bR bH bC bP"

    def test_are_colour_and_piece(self) -> None:
        assert [(colour(kind), piece(kind)) for kind in KINDS] == list(product("rb", "KAERHCP"))

    @pytest.mark.parametrize(
        ("tile", "en", "hans", "hant"),
        [
            ("rK", "red General", "帅", "帥"),
            ("rA", "red Advisor", "仕", "仕"),
            ("rE", "red Elephant", "相", "相"),
            ("rR", "red Chariot", "车", "俥"),
            ("rH", "red Horse", "马", "傌"),
            ("rC", "red Cannon", "炮", "炮"),
            ("rP", "red Soldier", "兵", "兵"),
            ("bK", "black General", "将", "將"),
            ("bA", "black Advisor", "士", "士"),
            ("bE", "black Elephant", "象", "象"),
            ("bR", "black Chariot", "车", "車"),
            ("bH", "black Horse", "马", "馬"),
            ("bC", "black Cannon", "炮", "包"),
            ("bP", "black Soldier", "卒", "卒"),
        ],
    )
    def test_have_names_in_every_language(self, tile: Tile, en: str, hans: str, hant: str) -> None:
        assert [NAMES[tile].in_(lang) for lang in LANGS] == [en, hans, hant]


class TestCounts:
    @given(some_tiles)
    def test_keep_how_many_of_each_kind_and_no_order(self, tiles: list[Tile]) -> None:
        counts = pack(tiles)

        assert unpack(counts) == tuple(sorted(tiles, key=KINDS.index))
        assert pack(reversed(tiles)) == counts
        assert size(counts) == len(tiles)
        assert [count(counts, kind) for kind in KINDS] == [tiles.count(kind) for kind in KINDS]

    @given(some_tiles, some_tiles)
    def test_contain_what_can_be_taken_out(self, tiles: list[Tile], part: list[Tile]) -> None:
        taken = not Counter(part) - Counter(tiles)

        assert contains(pack(tiles), pack(part)) == taken

    @given(some_tiles)
    def test_contain_themselves(self, tiles: list[Tile]) -> None:
        assert contains(pack(tiles), pack(tiles))
        assert contains(pack(tiles), 0)

    def test_hold_fifteen_of_every_kind_side_by_side(self) -> None:
        assert unpack(pack(KINDS * 15)) == tuple(kind for kind in KINDS for _ in range(15))

    @given(some_tiles, some_tiles)
    def test_lack_what_another_multiset_has_more_of(
        self, tiles: list[Tile], whole: list[Tile]
    ) -> None:
        more = Counter(whole) - Counter(tiles)

        assert unpack(lacking(pack(tiles), pack(whole))) == tuple(
            sorted(more.elements(), key=KINDS.index)
        )
