from __future__ import annotations

import io
from typing import Any

import pytest

from matches.domain.visibility import view
from matches.games.protocol import Seat, SeatViewer
from matches.management.demo import xqmj
from matches.management.demo.ink import Ink, ink_for
from matches.management.demo.screen import progress
from tests.support.games import json_of
from tests.support.recording import Recorder

PLAIN, WIDE, FULL = Ink(colour=False, wide=False), Ink(colour=False, wide=True), Ink(True, True)


class Stream(io.StringIO):
    """A stream that is a terminal, or not, and has an encoding."""

    def __init__(self, *, terminal: bool, encoding: str) -> None:
        super().__init__()
        self._terminal = terminal
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding

    def isatty(self) -> bool:
        return self._terminal


HAND: dict[str, Any] = {
    "you": 0,
    "dealer": 0,
    "stage": "after_draw",
    "turn": 0,
    "wall_left": 20,
    "sides": [
        {
            "held": 2,
            "concealed": ["rK"],
            "drawn": "bP",
            "meld": {"kind": "triplet", "tiles": ["rP", "rP", "rP"]},
            "discards": [{"tile": "bR", "drawn": False}, {"tile": "bK", "drawn": True}],
        },
        {"held": 4, "discards": [{"tile": "rC", "drawn": False}]},
    ],
}


def drawn(ink: Ink) -> list[str]:
    return xqmj.table(HAND, names=("ana", "ben"), clocks=("3:02", "2:47"), ink=ink)


class TestTable:
    def test_in_ascii_shows_what_the_seat_sees(self) -> None:
        assert drawn(PLAIN) == [
            "  ben          2:47  ## ## ## ## ",
            "           discards   rC ",
            "> ana      D   3:02  rK  bP   rP rP rP ",
            "           discards   bR bK*",
        ]

    def test_in_chinese_has_the_signs_of_the_pieces(self) -> None:
        assert drawn(WIDE) == [
            "  ben           2:47   ▒▒  ▒▒  ▒▒  ▒▒ ",
            "           discards    炮 ",
            "▸ ana      莊   3:02   帥   卒    兵  兵  兵 ",
            "           discards    車 (將)",
        ]

    def test_in_colour_paints_red_pieces_red_and_black_ones_black(self) -> None:
        text = "".join(drawn(FULL))

        assert "\x1b[1;38;5;160;48;5;255m 帥 \x1b[0m" in text
        assert "\x1b[1;38;5;16;48;5;255m 卒 \x1b[0m" in text

    def test_in_colour_shades_a_discard_that_had_just_been_drawn(self) -> None:
        assert "\x1b[1;38;5;16;48;5;247m 將 \x1b[0m" in drawn(FULL)[3]

    def test_never_shows_the_other_seats_tiles(self) -> None:
        log = Recorder(3)
        log.start()
        for _ in range(15):
            log.step()
        seen = json_of(view(log.match, SeatViewer(Seat(1))))["hand"]

        first = xqmj.table(seen, names=("ana", "ben"), clocks=("", ""), ink=PLAIN)[0]

        assert first.split()[-4:] == ["##"] * 4


class TestInk:
    def test_is_plain_where_nobody_looks(self) -> None:
        stream = Stream(terminal=False, encoding="utf-8")

        assert ink_for(stream, {"TERM": "xterm"}) == PLAIN

    def test_is_full_in_a_terminal(self) -> None:
        stream = Stream(terminal=True, encoding="utf-8")

        assert ink_for(stream, {"TERM": "xterm"}) == FULL

    def test_has_no_colour_where_it_is_not_wanted(self) -> None:
        stream = Stream(terminal=True, encoding="utf-8")

        assert ink_for(stream, {"TERM": "xterm", "NO_COLOR": "1"}) == WIDE

    @pytest.mark.parametrize("term", ["dumb", ""])
    def test_is_plain_in_a_terminal_that_can_nothing(self, term: str) -> None:
        stream = Stream(terminal=True, encoding="utf-8")

        assert ink_for(stream, {"TERM": term}) == PLAIN

    def test_has_no_chinese_where_the_encoding_has_none(self) -> None:
        stream = Stream(terminal=True, encoding="ascii")

        assert ink_for(stream, {"TERM": "xterm"}) == Ink(colour=True, wide=False)


class TestProgress:
    def test_counts_hands_and_the_discards_of_this_one(self) -> None:
        match = {"hand_no": 2, "hand": HAND, "outcomes": [None]}

        # One hand of six, and 4 of at most 26 discards: 7 + 1.08 of 42 cells.
        assert progress(match, PLAIN) == f"hand 2/6 [{'#' * 8}{'.' * 34}] discard  4"

    def test_is_full_at_the_end(self) -> None:
        match = {"hand_no": 6, "hand": HAND, "outcomes": [None] * 6}

        assert "#" * 42 in progress(match, PLAIN)


class TestScore:
    def test_has_a_column_for_each_hand(self) -> None:
        outcomes = [
            {"how": "self_draw", "winner": 0, "points": [2, 0]},
            {"how": "void", "winner": None, "points": [0, 0]},
            {"how": "discard", "winner": 1, "points": [0, 3]},
        ]
        match = {"outcomes": outcomes, "dealer": 0, "hand_no": 3, "scores": [2, 3]}

        assert xqmj.score_table(match, ("ana", "ben")) == [
            "hand         1     2     3 total",
            "dealer     ana   ben   ana",
            "ana          2  void     -     2",
            "ben          -  void     3     3",
        ]
