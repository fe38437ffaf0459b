"""Who is paired with whom: the longest wait chooses the nearest within its window."""

from __future__ import annotations

from uuid import UUID

import pytest

from matches.models import Pairing
from matches.services.pairing import chosen, window

NOW_MS = 1_700_000_000_000


def waiting(*players: tuple[int | None, int]) -> list[Pairing]:
    """Those who wait, numbered from 0, of (rating, seconds waited); the longest wait first."""
    return [
        Pairing(player=UUID(int=number), rating=rating, since_ms=NOW_MS - seconds * 1_000)
        for number, (rating, seconds) in enumerate(players)
    ]


def couples(*players: tuple[int | None, int]) -> list[tuple[int, int]]:
    """The numbers of those who are paired."""
    found = chosen(waiting(*players), NOW_MS)
    return [(one.player.int, other.player.int) for one, other in found]


class TestWindow:
    @pytest.mark.parametrize(
        ("waited_ms", "points"),
        [
            (0, 50),
            (99, 50),
            (100, 51),
            (10_000, 150),
            (44_900, 499),
            (45_000, 500),
            (59_999, 500),
            (60_000, None),
        ],
    )
    def test_widens_to_the_end(self, waited_ms: int, points: int | None) -> None:
        assert window(waited_ms) == points


class TestChosen:
    @pytest.mark.parametrize(
        ("one", "other", "paired"),
        [
            ((1500, 0), (1550, 0), True),
            ((1500, 0), (1551, 0), False),
            ((1500, 0), (1449, 0), False),
            ((1500, 45), (2000, 0), True),
            ((1500, 59), (2001, 0), False),
            ((1500, 60), (2900, 0), True),
            ((None, 0), (None, 0), True),
        ],
    )
    def test_are_within_the_window_of_the_longer_wait(
        self, one: tuple[int | None, int], other: tuple[int | None, int], paired: bool
    ) -> None:
        assert couples(one, other) == ([(0, 1)] if paired else [])

    def test_are_the_nearest(self) -> None:
        assert couples((1500, 30), (1600, 20), (1490, 10), (1605, 5)) == [(0, 2), (1, 3)]

    def test_are_the_longest_wait_of_equals(self) -> None:
        assert couples((1500, 30), (1510, 20), (1490, 10)) == [(0, 1)]

    def test_leave_nobody_twice(self) -> None:
        found = couples(*[(1500, 9 - number) for number in range(9)])

        assert found == [(0, 1), (2, 3), (4, 5), (6, 7)]

    def test_let_others_meet_where_the_first_finds_nobody(self) -> None:
        assert couples((2000, 3), (1500, 2), (1510, 1)) == [(1, 2)]
