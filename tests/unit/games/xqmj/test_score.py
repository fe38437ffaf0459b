"""The score of a hand (XM-50 to XM-56)."""

from __future__ import annotations

import pytest

from matches.games.tiles import pack
from matches.games.xqmj.pieces import HANDS_32
from matches.games.xqmj.scoring import LINES, SCORES, How
from tests.support.xqmj import DEALER, OTHER, WIN, Table, facts, tiles


def lines(text: str, how: How = "discard") -> dict[str, int]:
    """The lines of a winning hand in the order of record."""
    score = SCORES[pack(tiles(text))][how]
    assert score.points == sum(line.points for line in score.lines)
    return {line.key: line.points for line in score.lines}


class TestLines:
    def test_are_those_of_the_table_in_its_order(self) -> None:
        """XM-51, XM-56."""
        assert [(line.key, line.points) for line in LINES] == [
            ("win", 1),
            ("one_colour", 1),
            ("one_general", 1),
            ("generals_pair", 2),
            ("three_alike", 2),
            ("five_soldiers", 5),
            ("mixed_soldiers", 2),
            ("self_draw", 2),
            ("last_tile", 1),
            ("heavenly", 6),
        ]

    def test_have_their_names(self) -> None:
        assert {line.key: (line.names.zh_hans, line.names.zh_hant) for line in LINES} == {
            "win": ("胜", "勝"),
            "one_colour": ("清一色", "清一色"),
            "one_general": ("将之才 / 帅之才", "將之才 / 帥之才"),
            "generals_pair": ("将帅听令", "將帥聽令"),
            "three_alike": ("三张同子", "三張同子"),
            "five_soldiers": ("五兵合纵", "五兵合縱"),
            "mixed_soldiers": ("鼓角齐鸣", "鼓角齊鳴"),
            "self_draw": ("自摸", "自摸"),
            "last_tile": ("海底捞月", "海底撈月"),
            "heavenly": ("天胡", "天胡"),
        }


class TestScore:
    @pytest.mark.parametrize(
        ("hand", "expected"),
        [
            ("rR rH rC bP bP", {"win": 1}),
            ("rR rH rC rP rP", {"win": 1, "one_colour": 1}),
            ("rK rA rE bP bP", {"win": 1, "one_general": 1}),
            ("bK bA bE bR bR", {"win": 1, "one_colour": 1, "one_general": 1}),
            ("rP rP rP rK bK", {"win": 1, "generals_pair": 2}),
            ("rR rH rC bH bH", {"win": 1, "three_alike": 2}),
            ("rK rA rE bA bA", {"win": 1, "one_general": 1, "three_alike": 2}),
            ("rP rP bP bP bP", {"win": 1, "mixed_soldiers": 2}),
            ("bP bP bP bP bP", {"win": 1, "one_colour": 1, "five_soldiers": 5}),
        ],
    )
    def test_adds_the_lines_of_the_tiles(self, hand: str, expected: dict[str, int]) -> None:
        """XM-51, XM-52, XM-53: the nine classes of section 15.1."""
        assert list(lines(hand).items()) == list(expected.items())

    def test_adds_two_for_a_self_draw(self) -> None:
        """XM-51; the examples of section 15.3."""
        assert lines("rK rR rH rC bK", "self_draw") == {
            "win": 1,
            "generals_pair": 2,
            "self_draw": 2,
        }
        assert lines("rP rP bP bP bP", "self_draw") == {
            "win": 1,
            "mixed_soldiers": 2,
            "self_draw": 2,
        }

    def test_adds_one_more_for_the_last_tile(self) -> None:
        """XM-54; ten is the most a hand can score."""
        assert lines("bP bP bP bP bP", "last_tile_self_draw") == {
            "win": 1,
            "one_colour": 1,
            "five_soldiers": 5,
            "self_draw": 2,
            "last_tile": 1,
        }

    def test_is_a_flat_six_for_a_heavenly_hand(self) -> None:
        """XM-46: also when the lines would give more."""
        for hand in HANDS_32.values():
            assert lines(" ".join(hand.tiles), "heavenly") == {"heavenly": 6}

    def test_never_counts_one_general_beside_both(self) -> None:
        """XM-51."""
        assert "one_general" not in lines("rR rH rC rK bK")

    def test_never_counts_soldiers_as_three_alike(self) -> None:
        """XM-52."""
        assert "three_alike" not in lines("rP rP rP rA rA")

    def test_counts_a_pair_of_the_pieces_other_colour(self) -> None:
        """XM-52: three of one colour do not exist, so the third is always the other colour."""
        assert "three_alike" in lines("rK rA rE bE bE")
        assert "three_alike" not in lines("rK rA rE bR bR")

    def test_has_no_line_for_dealing_or_for_the_last_discard(self) -> None:
        """XM-54, XM-55."""
        keys = {line.key for scores in SCORES.values() for s in scores.values() for line in s.lines}

        assert keys == {line.key for line in LINES}
        assert not keys & {"dealer", "last_discard"}


class TestRecordedScore:
    def test_of_a_last_tile_has_its_line(self) -> None:
        """XM-54; hand 5 of the example match: 1 + 2 + 1."""
        # No claim is made, so the 23rd draw is the other seat's (XM-43).
        table = Table("rA rE bE bK bC", "rR rH bP bP", last="rC")
        table.idle(wall_left=1)
        table.let_lie()

        event = facts(table.do(OTHER, WIN))

        assert (event["seat"], event["how"], event["points"]) == (OTHER, "last_tile_self_draw", 4)
        assert [line["key"] for line in event["lines"]] == ["win", "self_draw", "last_tile"]

    def test_of_a_win_on_the_last_discard_has_no_line_of_its_own(self) -> None:
        """XM-54."""
        table = Table("rA rR rH bP bP", "rE rE bE bE", last="rC")
        table.discard(DEALER, "rA")
        table.idle(wall_left=0)

        event = facts(table.do(DEALER, WIN))

        assert (event["how"], event["points"]) == ("discard", 1)
