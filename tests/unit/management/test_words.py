"""What commands say in the terminal, in every language."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest

from matches.domain.events import EndReason
from matches.games.names import LANGS, Lang
from matches.games.xqmj.scoring import How
from matches.management.demo import xqmj
from matches.management.demo.ink import Ink
from matches.management.words import WORDS


class TestWords:
    @pytest.mark.parametrize("key", WORDS)
    def test_have_the_same_places_in_every_language(self, key: str) -> None:
        english, *others = (sorted(re.findall(r"{\w+}", WORDS[key].in_(lang))) for lang in LANGS)

        assert all(other == english for other in others)
        assert all(WORDS[key].in_(lang) for lang in LANGS)

    def test_are_there_for_every_way_of_winning_and_ending(self) -> None:
        assert {f"how_{how}" for how in get_args(How)} <= WORDS.keys()
        # An aborted match has no winner, and so words of its own.
        reasons = {f"by_{reason}" for reason in get_args(EndReason)} - {"by_aborted"}
        assert reasons <= WORDS.keys()


class TestActions:
    @pytest.mark.parametrize(
        ("action", "lang", "text"),
        [
            ({"type": "discard", "tile": "rR", "drawn": False}, "en", "discard red Chariot"),
            ({"type": "discard", "tile": "rR", "drawn": True}, "zh-Hans", "打出 车（刚摸）"),
            ({"type": "discard", "tile": "rR", "drawn": True}, "zh-Hant", "打出 俥（剛摸）"),
            ({"type": "pung"}, "zh-Hant", "碰 兵"),
            ({"type": "chow"}, "en", "chow red Soldier"),
            ({"type": "win"}, "zh-Hans", "胡"),
            ({"type": "pass"}, "zh-Hant", "過"),
        ],
    )
    def test_are_told_with_their_tile(self, action: Any, lang: Lang, text: str) -> None:
        assert xqmj.action_text(action, {"offered": "rP"}, lang) == text


WON: Any = {
    "result": {
        "how": "self_draw",
        "winner": 1,
        "tiles": ["rR", "rH", "rC", "bA", "bA"],
        "lines": [{"key": "win", "points": 1}, {"key": "self_draw", "points": 2}],
        "points": 3,
    }
}


class TestResults:
    @pytest.mark.parametrize(
        ("lang", "won", "void"),
        [
            (
                "en",
                "Misty 3 wins 3 (self draw: Win 1, Self-draw 2)",
                "void, nobody scores",
            ),
            ("zh-Hans", "Misty 3 胜，得 3 分（自摸：胜 1、自摸 2）", "流局，双方不得分"),
            ("zh-Hant", "Misty 3 勝，得 3 分（自摸：勝 1、自摸 2）", "流局，雙方不得分"),
        ],
    )
    def test_are_told_with_their_lines(self, lang: Lang, won: str, void: str) -> None:
        assert xqmj.result(WON, ("you", "Misty 3"), lang) == won
        assert xqmj.result({"result": {"how": "void"}}, ("you", "Misty 3"), lang) == void


class TestTable:
    def test_keeps_its_columns_in_chinese(self) -> None:
        side = {"held": 1, "discards": [{"tile": "rC", "drawn": False}]}
        hand = {
            "dealer": 0,
            "stage": "offer",
            "turn": 1,
            "wall_left": 9,
            "sides": [side, side],
        }

        found = xqmj.table(
            hand,
            names=("你", "Misty 3"),
            clocks=("9:59", "10:00"),
            ink=Ink(colour=False, wide=True, script="zh-Hans"),
            lang="zh-Hans",
        )

        assert found == [
            "▸ Misty 3      10:00   ▒▒ ",
            "           弃牌        炮 ",
            "  你       庄   9:59   ▒▒ ",
            "           弃牌        炮 ",
        ]

    def test_shows_the_tiles_in_the_reader_s_script(self) -> None:
        simplified = Ink(colour=False, wide=True, script="zh-Hans")

        assert (simplified.tile("rR"), Ink(colour=False, wide=True).tile("rR")) == (" 车 ", " 俥 ")
