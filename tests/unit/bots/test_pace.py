"""How long the computer takes (XM-86)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from statistics import mean

import pytest

from matches.bots.pace import RANGES_MS, Moment, delay_ms
from matches.games.protocol import Seat
from tests.support.xqmj import two_player_rules

PAGE = (Path(__file__).parents[3] / "docs/computer.md").read_text("utf-8")
SECRET, MATCH_ID = bytes(range(32)), bytes(range(16))
MOMENTS: tuple[Moment, ...] = ("answer", "discard", "ready")


def delays(moment: Moment, numbers: Iterable[int], *, seat: int = 1) -> list[int]:
    return [
        delay_ms(moment, secret=SECRET, match_id=MATCH_ID, seat=Seat(seat), number=number)
        for number in numbers
    ]


class TestDelay:
    @pytest.mark.parametrize("moment", MOMENTS)
    def test_fills_its_range(self, moment: Moment) -> None:
        shortest, longest = RANGES_MS[moment]
        drawn = delays(moment, range(5_000))

        assert shortest <= min(drawn) < shortest + 10
        assert longest - 10 < max(drawn) <= longest
        assert abs(mean(drawn) - (shortest + longest) / 2) < (longest - shortest) / 40

    def test_of_an_answer_leaves_room_before_the_pause_ends(self) -> None:
        assert RANGES_MS["answer"][1] + 500 < two_player_rules().pause_ms

    def test_is_another_for_everything_that_it_depends_on(self) -> None:
        base = delays("discard", range(20))

        assert delays("discard", range(20)) == base
        assert delays("discard", range(1, 21)) != base
        assert delays("discard", range(20), seat=0) != base
        moved = (
            delay_ms("discard", secret=secret, match_id=match_id, seat=Seat(1), number=0)
            for secret, match_id in ((MATCH_ID * 2, MATCH_ID), (SECRET, SECRET[16:]))
        )
        assert base[0] not in moved

    def test_is_the_one_of_the_page(self) -> None:
        told = re.search(r"after (\d+) ms.*? after (\d+) ms.*? after (\d+) ms", PAGE, re.DOTALL)
        assert told is not None

        found = [
            delays(moment, [number])[0]
            for moment, number in zip(MOMENTS, (101, 102, 1), strict=True)
        ]

        assert [int(one) for one in told.groups()] == found
