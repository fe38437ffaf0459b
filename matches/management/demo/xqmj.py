"""Two-player xiangqi mahjong at the demo: the move of a seat, and the table as the seat sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from matches.bots.policies import Greedy, Policy
from matches.games.names import Lang, Names
from matches.games.xqmj.actions import HandAction
from matches.games.xqmj.notation import tile_text
from matches.games.xqmj.scoring import LINES
from matches.games.xqmj.view import HandView, Result, Side
from matches.management.demo.ink import Ink, padded
from matches.management.words import say

HANDS = 6
"""Hands in a match (XM-58)."""
LONGEST_HAND = 26
"""Discards in a hand at most (XM-43)."""

_LINE_NAMES: Mapping[str, Names] = {line.key: line.names for line in LINES}


def chosen(hand: Any, legal: Any, policy: Policy | None = None) -> Any:
    """What a sensible player does, as JSON, given its view of the hand and its legal actions."""
    view = msgspec.convert(hand, HandView)
    actions = msgspec.convert(legal, list[HandAction])
    return msgspec.to_builtins((policy or Greedy()).choose(view, actions))


def discards(hand: Any) -> int:
    """How many discards were made and not won: those that lie there, and those in melds (XM-29)."""
    return sum(len(side.get("discards", ())) + ("meld" in side) for side in hand["sides"])


def table(
    hand: Any, *, names: tuple[str, str], clocks: tuple[str, str], ink: Ink, lang: Lang = "en"
) -> list[str]:
    """The table as one seat sees it, that seat below."""
    view = msgspec.convert(hand, HandView)
    own = 0 if view.you is None else int(view.you)
    lines: list[str] = []
    for seat in (1 - own, own):
        turn = view.turn == seat
        pointer = ("▸" if ink.wide else ">") if turn else " "
        dealer = ink.dealer() if view.dealer == seat else ("  " if ink.wide else " ")
        head = f"{pointer} {padded(names[seat][:8], 8)} {dealer} {clocks[seat]:>6}  "
        lines.append(f"{ink.strong(head) if turn else head}{_held(view.sides[seat], ink)}")
        label = ink.faint(padded(say("discards", lang), 8))
        lines.append(f"  {'':8} {label}   {_row(view.sides[seat], ink)}")
    return lines


def result(hand: Any, names: tuple[str, str], lang: Lang = "en") -> str:
    """How a finished hand ended, in one line."""
    ended = msgspec.convert(hand["result"], Result)
    if ended.winner is None:
        return say("void", lang)
    comma = ", " if lang == "en" else "、"
    lines = comma.join(f"{_LINE_NAMES[line.key].in_(lang)} {line.points}" for line in ended.lines)
    how = say(f"how_{ended.how}", lang)
    return say("won", lang, name=names[ended.winner], points=ended.points, how=how, lines=lines)


def action_text(action: Any, hand: Any, lang: Lang) -> str:
    """What an action does, given as JSON as the hand is.

    >>> action_text({"type": "discard", "tile": "rR", "drawn": True}, {}, "en")
    'discard red Chariot, just drawn'
    >>> action_text({"type": "chow"}, {"offered": "bH"}, "zh-Hans")
    '吃 马'
    """
    kind, tile = action["type"], action.get("tile") or hand.get("offered")
    key = "discard_drawn" if action.get("drawn") else kind
    return say(key, lang, tile=None if tile is None else tile_text(tile, lang))


def score_table(match: Any, names: tuple[str, str]) -> list[str]:
    """The points of every hand and seat, with the dealers: they alternate (XM-13).

    >>> won = {"how": "self_draw", "winner": 1, "points": [0, 4]}
    >>> void = {"how": "void", "winner": None, "points": [0, 0]}
    >>> match = {"outcomes": [won, void], "dealer": 1, "hand_no": 2, "scores": [0, 4]}
    >>> for line in score_table(match, ("ana", "ben")):
    ...     print(line)
    hand         1     2 total
    dealer     ana   ben
    ana          -  void     0
    ben          4  void     4
    """
    outcomes = match["outcomes"]
    numbers = range(1, len(outcomes) + 1)
    dealers = [names[(match["dealer"] + match["hand_no"] - number) % 2] for number in numbers]
    rows = [("hand", [*map(str, numbers), "total"]), ("dealer", dealers)]
    for seat, name in enumerate(names):
        points = [_points(outcome, seat) for outcome in outcomes]
        rows.append((name, [*points, str(match["scores"][seat])]))
    return [f"{head:<8}" + "".join(_cell(cell) for cell in cells) for head, cells in rows]


def _points(outcome: Any, seat: int) -> str:
    if outcome["winner"] is None:
        return "void"
    return str(outcome["points"][seat]) if outcome["winner"] == seat else "-"


def _cell(text: str) -> str:
    return f"{text:>6.6}"


def _held(side: Side, ink: Ink) -> str:
    meld = "" if side.meld is None else "".join(ink.tile(tile) for tile in side.meld.tiles)
    if side.concealed is None:
        held = ink.back() * side.held
    else:
        held = "".join(ink.tile(tile) for tile in side.concealed)
        if side.drawn is not None:
            held += f" {ink.tile(side.drawn)}"
    return f"{held}  {meld}" if meld else held


def _row(side: Side, ink: Ink) -> str:
    return "".join(ink.tile(one.tile, shaded=one.drawn) for one in side.discards)
