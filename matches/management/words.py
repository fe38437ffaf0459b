"""What commands that show a match say in the terminal, in every language of the interfaces."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from matches.games.names import Lang, Names

WORDS: Mapping[str, Names] = MappingProxyType(
    {
        # The table
        "discards": Names("discards", "弃牌", "棄牌"),
        "wall": Names("wall {left}", "牌墙 {left}", "牌牆 {left}"),
        "hand": Names(
            "hand {number} of {hands}",
            "第 {number} 局，共 {hands} 局",
            "第 {number} 局，共 {hands} 局",
        ),
        "you": Names("you", "你", "你"),
        # What may be done
        "discard": Names("discard {tile}", "打出 {tile}", "打出 {tile}"),
        "discard_drawn": Names(
            "discard {tile}, just drawn", "打出 {tile}（刚摸）", "打出 {tile}（剛摸）"
        ),
        "win": Names("win", "胡", "胡"),
        "chow": Names("chow {tile}", "吃 {tile}", "吃 {tile}"),
        "pung": Names("pung {tile}", "碰 {tile}", "碰 {tile}"),
        "pass": Names("pass", "过", "過"),
        # How a hand ended
        "void": Names("void, nobody scores", "流局，双方不得分", "流局，雙方不得分"),
        "won": Names(
            "{name} wins {points} ({how}: {lines})",
            "{name} 胜，得 {points} 分（{how}：{lines}）",
            "{name} 勝，得 {points} 分（{how}：{lines}）",
        ),
        "how_discard": Names("discard", "点炮", "放炮"),
        "how_self_draw": Names("self draw", "自摸", "自摸"),
        "how_last_tile_self_draw": Names("last tile self draw", "海底自摸", "海底自摸"),
        "how_heavenly": Names("heavenly", "天胡", "天胡"),
        # What is asked of a person
        "choose": Names(
            "1 to {last}, or resign: ",
            "1 到 {last}，认输请输入 resign：",
            "1 到 {last}，認輸請輸入 resign：",
        ),
        "not_understood": Names("That is not one of them.", "没有这个选项。", "沒有這個選項。"),
        "next": Names("Enter for the next hand: ", "按回车开始下一局：", "按 Enter 開始下一局："),
        "too_late": Names(
            "Too late: the match has gone on.", "太迟了：对局已经继续。", "太遲了：對局已經繼續。"
        ),
        "trouble": Names("trying again: {text}", "正在重试：{text}", "正在重試：{text}"),
        # How a match ended
        "ended_won": Names("You win by {reason}.", "你赢了（{reason}）。", "你贏了（{reason}）。"),
        "ended_lost": Names(
            "You lose by {reason}.", "你输了（{reason}）。", "你輸了（{reason}）。"
        ),
        "ended_drawn": Names("A draw by {reason}.", "平局（{reason}）。", "平手（{reason}）。"),
        "ended_void": Names("The match was aborted.", "对局已取消。", "對局已取消。"),
        "by_score": Names("score", "比分", "比分"),
        "by_flag": Names("time", "超时", "超時"),
        "by_resignation": Names("resignation", "认输", "認輸"),
        "by_forfeit": Names("leaving", "离开", "離開"),
        "by_absence": Names("absence", "离线", "離線"),
    }
)
"""The phrases; what stands in braces is filled in."""


def say(key: str, lang: Lang, **values: object) -> str:
    """A phrase in a language.

    >>> say("wall", "en", left=7), say("wall", "zh-Hant", left=7)
    ('wall 7', '牌牆 7')
    """
    return WORDS[key].in_(lang).format(**values)
