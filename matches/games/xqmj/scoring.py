"""The score of a winning hand: a table of lines (rules document, section 9).

One function is one line; all of them together are evaluated once, at import,
for each of the 66 winning multisets and each way of winning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, get_args

import msgspec

from matches.games.melds import Meld
from matches.games.names import Names
from matches.games.tiles import Counts, Tile, colour, piece
from matches.games.xqmj.pieces import GENERALS_PAIR, HANDS_32

How = Literal["discard", "self_draw", "last_tile_self_draw", "heavenly"]
"""The way of winning: `self_draw` is not of the wall's last tile, `heavenly` is XM-44, XM-45."""


class WinningHand(msgspec.Struct, frozen=True, gc=False):
    """A winning hand as the lines read it: five tiles, their meld and pair, and how it was won."""

    tiles: tuple[Tile, ...]
    meld: Meld
    pair: tuple[Tile, Tile]
    how: How


class ScoreLine(msgspec.Struct, frozen=True, gc=False):
    """One line of a score as it is recorded."""

    key: str
    points: int


class Score(msgspec.Struct, frozen=True, gc=False):
    """The lines of a hand in the order of the table (XM-56), and their sum (XM-50)."""

    lines: tuple[ScoreLine, ...]
    points: int


class Line(msgspec.Struct, frozen=True):
    """A row of the table of lines; it bars the lines in `excludes` from the same score."""

    key: str
    points: int
    names: Names
    applies: Callable[[WinningHand], bool]
    excludes: frozenset[str] = frozenset()


def _win(_hand: WinningHand) -> bool:
    """Win (胜 / 勝), XM-50: every win."""
    return True


def _one_colour(hand: WinningHand) -> bool:
    """One colour (清一色), XM-51: all five tiles are red, or all are black."""
    return len({colour(tile) for tile in hand.tiles}) == 1


def _one_general(hand: WinningHand) -> bool:
    """One General (将之才, 帅之才 / 將之才, 帥之才), XM-51: one General and not the other."""
    return sum(piece(tile) == "K" for tile in hand.tiles) == 1


def _generals_pair(hand: WinningHand) -> bool:
    """Generals pair (将帅听令 / 將帥聽令), XM-51: the pair is the two Generals."""
    return hand.pair == GENERALS_PAIR


def _three_alike(hand: WinningHand) -> bool:
    """Three alike (三张同子 / 三張同子), XM-52: three of one piece, colour ignored, no soldiers."""
    pieces = [piece(tile) for tile in hand.tiles]
    return any(pieces.count(letter) == 3 for letter in "AERHC")


def _all_soldiers(hand: WinningHand) -> bool:
    return all(piece(tile) == "P" for tile in hand.tiles)


def _five_soldiers(hand: WinningHand) -> bool:
    """Five Soldiers (五兵合纵 / 五兵合縱), XM-53: five soldiers of one colour."""
    return _all_soldiers(hand) and _one_colour(hand)


def _mixed_soldiers(hand: WinningHand) -> bool:
    """Mixed Soldiers (鼓角齐鸣 / 鼓角齊鳴), XM-53: five soldiers, both colours among them."""
    return _all_soldiers(hand) and not _one_colour(hand)


def _self_draw(hand: WinningHand) -> bool:
    """Self-draw (自摸), XM-51: the winning tile came from the wall."""
    return hand.how in ("self_draw", "last_tile_self_draw")


def _last_tile(hand: WinningHand) -> bool:
    """Last tile (海底捞月 / 海底撈月), XM-54: it was the last of the wall."""
    return hand.how == "last_tile_self_draw"


def _heavenly(hand: WinningHand) -> bool:
    """Heavenly hand (天胡), XM-46: a flat score, whatever the tiles."""
    return hand.how == "heavenly"


_ADDING: tuple[Line, ...] = (
    Line("win", 1, Names("Win", "胜", "勝"), _win),
    Line("one_colour", 1, Names("One colour", "清一色", "清一色"), _one_colour),
    Line(
        "one_general",
        1,
        Names("One General", "将之才 / 帅之才", "將之才 / 帥之才"),
        _one_general,
    ),
    Line("generals_pair", 2, Names("Generals pair", "将帅听令", "將帥聽令"), _generals_pair),
    Line("three_alike", 2, Names("Three alike", "三张同子", "三張同子"), _three_alike),
    Line("five_soldiers", 5, Names("Five Soldiers", "五兵合纵", "五兵合縱"), _five_soldiers),
    Line("mixed_soldiers", 2, Names("Mixed Soldiers", "鼓角齐鸣", "鼓角齊鳴"), _mixed_soldiers),
    Line("self_draw", 2, Names("Self-draw", "自摸", "自摸"), _self_draw),
    Line("last_tile", 1, Names("Last tile", "海底捞月", "海底撈月"), _last_tile),
)

LINES: tuple[Line, ...] = (
    *_ADDING,
    Line(
        "heavenly",
        6,
        Names("Heavenly hand", "天胡", "天胡"),
        _heavenly,
        excludes=frozenset(line.key for line in _ADDING),
    ),
)
"""The table of lines (XM-51) in the order of record (XM-56)."""


def score(hand: WinningHand, lines: tuple[Line, ...] = LINES) -> Score:
    """Read a winning hand against a table of lines."""
    applying = [line for line in lines if line.applies(hand)]
    barred = frozenset[str]().union(*(line.excludes for line in applying))
    counted = tuple(ScoreLine(line.key, line.points) for line in applying if line.key not in barred)
    return Score(counted, sum(line.points for line in counted))


SCORES: Mapping[Counts, Mapping[How, Score]] = MappingProxyType(
    {
        counts: MappingProxyType(
            {
                how: score(WinningHand(split.tiles, split.melds[0], split.pair, how))
                for how in get_args(How)
            }
        )
        for counts, split in HANDS_32.items()
    }
)
"""The score of each winning multiset for each way of winning."""
