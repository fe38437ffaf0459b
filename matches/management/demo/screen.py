"""The demo's screen: the match drawn anew several times a second, or told line by line."""

from __future__ import annotations

from typing import Any, TextIO

from matches.management.demo import xqmj
from matches.management.demo.ink import Ink
from matches.management.demo.player import Player

WIDTH = 78
BAR_CELLS = 42


class Screen:
    """Shows a match as one player sees it.

    In a terminal the drawing stays in its place and is painted over; anywhere
    else only what is new is written, a line for each discard and each hand.
    """

    def __init__(self, stream: TextIO, *, ink: Ink, names: tuple[str, str]) -> None:
        self._stream = stream
        self._ink = ink
        self._names = names
        self._painted = 0
        self._written: tuple[int, int, int] | None = None
        self.trouble = ""

    def show(self, player: Player) -> None:
        """Bring the screen up to date."""
        if self._ink.colour:
            self._paint(player)
        else:
            self._write_news(player.sight["match"])

    def close(self) -> None:
        """Leave the drawing where it is and go on below it."""
        self._painted = 0

    def _paint(self, player: Player) -> None:
        lines = [*self._head(player.sight["match"]), *self._table(player)]
        lines.append(self._ink.faint(self.trouble[:WIDTH]))
        over = f"\x1b[{self._painted}F" if self._painted else ""
        self._stream.write(over + "".join(f"\x1b[2K{line}\n" for line in lines))
        self._stream.flush()
        self._painted = len(lines)

    def _head(self, match: dict[str, Any]) -> list[str]:
        first, second = self._names
        score = f"{first} {match['scores'][0]} : {match['scores'][1]} {second}"
        return [
            self._ink.rule(WIDTH),
            f"{progress(match, self._ink)}  {self._ink.strong(score)}",
            self._ink.rule(WIDTH),
        ]

    def _table(self, player: Player) -> list[str]:
        match = player.sight["match"]
        if match["hand"] is None:
            return ["", "", "", "", self._ink.faint("waiting for both players to be ready")]
        drawn = xqmj.table(
            match["hand"],
            names=self._names,
            clocks=player.clocks,
            ink=self._ink,
        )
        return [*drawn, self._ink.faint(self._state(player))]

    def _state(self, player: Player) -> str:
        match = player.sight["match"]
        if match["hand"].get("result") is not None:
            return xqmj.result(match["hand"], self._names)
        pause_ms = match["pause_until_ms"] - player.server_ms
        return f"pause {max(0, pause_ms) / 1000:.1f} s   wall {match['hand']['wall_left']}"

    def _write_news(self, match: dict[str, Any]) -> None:
        hand = match["hand"]
        laid = 0 if hand is None else xqmj.discards(hand)
        news = (match["hand_no"], laid, len(match["outcomes"]))
        if news == self._written or hand is None:
            return
        self._written = news
        text = progress(match, self._ink)
        if hand.get("result") is not None:
            text += f"  {xqmj.result(hand, self._names)}"
        self._stream.write(text + "\n")
        self._stream.flush()


def progress(match: dict[str, Any], ink: Ink) -> str:
    """How far the match is, by hand and discard.

    >>> match = {"hand_no": 3, "hand": None, "outcomes": [1, 2, 3]}
    >>> progress(match, Ink(colour=False, wide=False))
    'hand 3/6 [#####################.....................] discard  0'
    """
    hand = match["hand"]
    laid = 0 if hand is None else xqmj.discards(hand)
    done = len(match["outcomes"])
    under_way = match["hand_no"] - done
    share = (done + under_way * min(1.0, laid / xqmj.LONGEST_HAND)) / xqmj.HANDS
    bar = ink.bar(share, BAR_CELLS)
    return f"hand {match['hand_no']}/{xqmj.HANDS} [{bar}] discard {laid:2}"
