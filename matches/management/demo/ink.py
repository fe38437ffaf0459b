"""How things are written in a terminal: in colour and Chinese where it can, in ASCII elsewhere."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping
from typing import Literal, TextIO

import msgspec

from matches.games.tiles import NAMES, Tile, colour

_RESET = "\x1b[0m"
_FACE = {"r": "38;5;160", "b": "38;5;16"}
_LIGHT, _SHADED, _BACK = "48;5;255", "48;5;247", "38;5;245;48;5;238"


class Ink(msgspec.Struct, frozen=True):
    """A way of writing: `colour` with ANSI sequences, `wide` with Chinese and box characters.

    `script` is that of the tiles, which are Chinese in every language.
    """

    colour: bool
    wide: bool
    script: Literal["zh-Hans", "zh-Hant"] = "zh-Hant"

    def tile(self, tile: Tile, *, shaded: bool = False) -> str:
        """One tile, face up; a shaded one had just been drawn when it was discarded (XM-22).

        >>> Ink(colour=False, wide=False).tile("rK"), Ink(colour=False, wide=True).tile("bP")
        ('rK ', ' 卒 ')
        """
        if self.colour:
            face = f"{_FACE[colour(tile)]};{_SHADED if shaded else _LIGHT}"
            return f"\x1b[1;{face}m {self._face(tile)} {_RESET}"
        if self.wide:
            return f"({self._face(tile)})" if shaded else f" {self._face(tile)} "
        return f"{tile}*" if shaded else f"{tile} "

    def back(self) -> str:
        """One tile, face down."""
        if self.colour:
            return f"\x1b[{_BACK}m {'▒▒' if self.wide else '##'} {_RESET}"
        return " ▒▒ " if self.wide else "## "

    def faint(self, text: str) -> str:
        """Text of less weight."""
        return f"\x1b[2m{text}{_RESET}" if self.colour else text

    def strong(self, text: str) -> str:
        """Text of more weight."""
        return f"\x1b[1m{text}{_RESET}" if self.colour else text

    def bar(self, share: float, width: int) -> str:
        """A bar of which so much is full.

        >>> Ink(colour=False, wide=False).bar(0.5, 10)
        '#####.....'
        """
        full = max(0, min(width, round(share * width)))
        return ("█" if self.wide else "#") * full + ("░" if self.wide else ".") * (width - full)

    def rule(self, width: int) -> str:
        """A line across."""
        return self.faint(("─" if self.wide else "-") * width)

    def dealer(self) -> str:
        """The mark of the dealer."""
        if not self.wide:
            return "D"
        return "莊" if self.script == "zh-Hant" else "庄"

    def _face(self, tile: Tile) -> str:
        return NAMES[tile].in_(self.script) if self.wide else tile


def ink_for(stream: TextIO, environment: Mapping[str, str] | None = None) -> Ink:
    """What the stream can show: no colour unless it is a terminal, nor where NO_COLOR is set."""
    environment = os.environ if environment is None else environment
    encoding = (stream.encoding or "").lower().replace("-", "")
    terminal = stream.isatty() and environment.get("TERM", "") not in {"", "dumb"}
    return Ink(
        colour=terminal and not environment.get("NO_COLOR"),
        wide=terminal and encoding == "utf8",
    )


def padded(text: str, width: int) -> str:
    """The text in so many cells of a terminal, of which a Chinese character takes two.

    >>> padded("Misty", 7), padded("棄牌", 7)
    ('Misty  ', '棄牌   ')
    """
    cells = sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in text)
    return text + " " * (width - cells)
