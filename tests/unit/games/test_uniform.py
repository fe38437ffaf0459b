"""Uniform numbers out of given bytes."""

from __future__ import annotations

from itertools import islice

from matches.games.uniform import below, words


class TestWords:
    def test_are_those_of_shake_256(self) -> None:
        """NIST's example of an empty message: 46b9 dd2b 0ba8 8d13 ..."""
        assert list(islice(words(b""), 4)) == [0x46B9, 0xDD2B, 0x0BA8, 0x8D13]


class TestBelow:
    def test_throws_away_the_words_that_would_favour_small_numbers(self) -> None:
        """65,536 = 5 * 13,107 + 1: the last word has no partners."""
        assert below(5, iter([65_535, 65_535, 65_534])) == 4
        assert below(5, iter([65_534, 65_535])) == 4

    def test_throws_nothing_away_where_all_words_share_alike(self) -> None:
        assert below(2, iter([65_535])) == 1
