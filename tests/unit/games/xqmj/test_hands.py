"""Melds, pairs and winning hands (XM-1, XM-4 to XM-11)."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb

import pytest

from matches.games.tiles import KINDS, pack, unpack
from matches.games.xqmj.pieces import CLAIMS_32, DECK_32, HANDS_32, MELDS_32
from tests.support.xqmj import tiles


def wins(text: str) -> bool:
    return pack(tiles(text)) in HANDS_32


class TestDeck:
    def test_is_one_set_of_32_tiles(self) -> None:
        """XM-1."""
        assert Counter(DECK_32) == {
            "rK": 1, "rA": 2, "rE": 2, "rR": 2, "rH": 2, "rC": 2, "rP": 5,
            "bK": 1, "bA": 2, "bE": 2, "bR": 2, "bH": 2, "bC": 2, "bP": 5,
        }  # fmt: skip


class TestMelds:
    def test_are_four_sequences_and_two_triplets(self) -> None:
        """XM-4, XM-5."""
        assert [(meld.kind, " ".join(meld.tiles)) for meld in MELDS_32] == [
            ("sequence", "rK rA rE"),
            ("sequence", "rR rH rC"),
            ("sequence", "bK bA bE"),
            ("sequence", "bR bH bC"),
            ("triplet", "rP rP rP"),
            ("triplet", "bP bP bP"),
        ]

    def test_hold_each_kind_in_one_meld_only(self) -> None:
        """XM-27: there is nothing to choose."""
        assert set(CLAIMS_32) == set(KINDS)
        assert unpack(CLAIMS_32["rA"].rest) == ("rK", "rE")
        assert unpack(CLAIMS_32["bC"].rest) == ("bR", "bH")
        assert unpack(CLAIMS_32["rP"].rest) == ("rP", "rP")


class TestWinningHand:
    @pytest.mark.parametrize(
        "hand",
        [
            "rK rA rE bA bA",
            "rR rH rC rK bK",
            "bR bH bC rA rA",
            "bK bA bE rP rP",
            "rP rP rP rK bK",
            "rP rP bP bP bP",
            "bP bP bP bP bP",
        ],
    )
    def test_is_a_meld_and_a_pair(self, hand: str) -> None:
        """XM-7 to XM-9."""
        assert wins(hand)

    @pytest.mark.parametrize(
        ("hand", "why"),
        [
            ("rR rH bC bP bP", "two colours in the sequence"),
            ("rP rP bP rA rA", "two colours in the triplet"),
            ("rK rA rE rA bA", "a pair of two colours"),
            ("rA rE rR bP bP", "not a fixed group"),
            ("bR bH bC rK bP", "no pair"),
            ("rP rP rP bP rK", "no pair"),
            ("bK rA rE bA bA", "the General of the other colour"),
            ("rK rA rE bA", "four tiles"),
        ],
    )
    def test_is_nothing_else(self, hand: str, why: str) -> None:
        """XM-6, XM-8 and the examples beside XM-11."""
        assert not wins(hand), why

    def test_is_one_of_66_multisets(self) -> None:
        """XM-10."""
        assert len(HANDS_32) == 66

    def test_is_dealt_1094_times_in_all_201376_deals(self) -> None:
        """Section 15.1, counted without the table: every deal of five is looked at."""
        won = sum(1 for five in combinations(DECK_32, 5) if pack(five) in HANDS_32)

        assert (won, comb(32, 5)) == (1094, 201_376)

    def test_waits_for_one_kind_or_two(self) -> None:
        """Section 15.2: 212 four-tile multisets wait for one kind, one for two."""
        fours = {pack(four) for four in combinations(DECK_32, 4)}
        waits = Counter(
            sum(pack([*unpack(four), kind]) in HANDS_32 for kind in KINDS) for four in fours
        )

        assert len(fours) == 2031
        assert waits == {0: 2031 - 213, 1: 212, 2: 1}
        assert wins("rP rP rP bP bP")
        assert wins("rP rP bP bP bP")
