"""The rules page says what the code does (docs/rules/xqmj-32-2p.md)."""

from __future__ import annotations

import re
from math import comb, prod
from pathlib import Path

from matches.games.names import Names
from matches.games.tiles import KINDS, NAMES, count, pack
from matches.games.xqmj.pieces import DECK_32, HANDS_32, MELDS_32
from matches.games.xqmj.refusals import REFUSALS
from matches.games.xqmj.scoring import LINES, SCORES
from tests.support.xqmj import tiles

PAGE = (Path(__file__).parents[4] / "docs/rules/xqmj-32-2p.md").read_text("utf-8")
PACKAGE = Path(__file__).parents[4] / "matches/games"


def rows(*first: str) -> list[list[str]]:
    """The cells of the rows whose first cell is one of these."""
    found = [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        for line in PAGE.splitlines()
        if line.startswith("|")
    ]
    return [row for row in found if row[0] in first]


def cells(names: Names) -> list[str]:
    return [names.en, names.zh_hans, names.zh_hant]


class TestRules:
    def test_have_every_number_once(self) -> None:
        numbers = [int(number) for number in re.findall(r"^\| XM-(\d+) \|", PAGE, re.MULTILINE)]

        assert sorted(numbers) == list(range(1, 88))

    def test_are_all_that_the_code_cites(self) -> None:
        sources = [path.read_text("utf-8") for path in PACKAGE.rglob("*.py")]
        cited = {int(number) for text in sources for number in re.findall(r"XM-(\d+)", text)}

        assert cited <= set(range(1, 88))


class TestTables:
    def test_list_the_tiles(self) -> None:
        deck = list(DECK_32)

        assert rows(*KINDS) == [
            [kind, str(deck.count(kind)), *cells(NAMES[kind])] for kind in KINDS
        ]

    def test_list_the_lines_of_the_score(self) -> None:
        printed = [row[:5] for row in rows(*(line.key for line in LINES))]

        assert printed == [[line.key, *cells(line.names), str(line.points)] for line in LINES]

    def test_list_the_refusals(self) -> None:
        printed = {row[0]: (row[1], row[2].replace("`", "")) for row in rows(*REFUSALS)}

        assert {code: meaning for code, (_, meaning) in printed.items()} == {
            code: meaning.replace("`", "") for code, meaning in REFUSALS.items()
        }

    def test_list_the_rules_behind_the_refusals(self) -> None:
        source = (PACKAGE / "xqmj/refusals.py").read_text("utf-8")
        printed = {rule for row in rows(*REFUSALS) for rule in row[1].split(", ")}

        assert printed == set(re.findall(r'"(XM-\d+)"', source))

    def test_give_points_and_deals_of_all_winning_hands(self) -> None:
        header = rows("meld \\ pair")[0][1:]
        pairs = [tiles(pair if " " in pair else f"{pair} {pair}") for pair in header]
        seen = 0
        for meld in MELDS_32:
            (row,) = rows(" ".join(meld.tiles))
            for pair, cell in zip(pairs, row[1:], strict=True):
                hand = pack(meld.tiles + pair)
                if hand not in HANDS_32:
                    assert cell == "–"
                    continue
                deals = prod(comb(DECK_32.count(kind), count(hand, kind)) for kind in KINDS)
                assert cell == f"{SCORES[hand]['discard'].points} / {deals}"
                seen += 1
        assert seen == 66
