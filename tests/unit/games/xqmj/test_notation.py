"""Tiles and melds in words."""

from __future__ import annotations

import pytest

from matches.games.melds import Meld
from matches.games.names import Lang
from matches.games.xqmj.notation import meld_text, tile_text, tiles_text
from tests.support.xqmj import tiles


class TestText:
    @pytest.mark.parametrize(
        ("lang", "text"),
        [("en", "black Cannon"), ("zh-Hans", "炮"), ("zh-Hant", "包")],
    )
    def test_names_a_tile(self, lang: Lang, text: str) -> None:
        assert tile_text("bC", lang) == text

    @pytest.mark.parametrize(
        ("lang", "text"),
        [
            ("en", "red Soldier, red Soldier, black General"),
            ("zh-Hans", "兵兵将"),
            ("zh-Hant", "兵兵將"),
        ],
    )
    def test_lists_tiles(self, lang: Lang, text: str) -> None:
        assert tiles_text(tiles("rP rP bK"), lang) == text

    @pytest.mark.parametrize(
        ("lang", "sequence", "triplet"),
        [
            (
                "en",
                "sequence red Chariot, red Horse, red Cannon",
                "triplet black Soldier, black Soldier, black Soldier",
            ),
            ("zh-Hans", "顺子 车马炮", "刻子 卒卒卒"),
            ("zh-Hant", "順子 俥傌炮", "刻子 卒卒卒"),
        ],
    )
    def test_says_what_kind_a_meld_is(self, lang: Lang, sequence: str, triplet: str) -> None:
        assert meld_text(Meld("sequence", ("rR", "rH", "rC")), lang) == sequence
        assert meld_text(Meld("triplet", ("bP", "bP", "bP")), lang) == triplet
