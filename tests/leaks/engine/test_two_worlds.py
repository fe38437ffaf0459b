from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from tests.leaks.engine.worlds import Leak, Tally, tally

BLOCK = 250


def _block(number: int) -> Tally:
    """Pairs of a range of seeds that no other block has; runs in a process of its own, too."""
    return tally(1_000_000 * number, BLOCK)


class TestEngine:
    """A seat and a spectator learn nothing that depends on what is hidden from them (I9)."""

    @pytest.mark.parametrize("number", range(6))
    def test_gives_equal_bytes_in_1500_pairs_of_worlds(self, number: int) -> None:
        found = _block(number)

        assert found.leaks == []
        assert found.pairs == BLOCK
        # Swaps that give or take a claim or a win are where a leak would show.
        assert found.options > BLOCK // 5

    @pytest.mark.slow
    @pytest.mark.timeout(1_800)
    def test_gives_equal_bytes_in_10000_pairs_of_worlds(self) -> None:
        """10,000 pairs show what is visible in one pair of 2,170 with a chance of 99 %."""
        leaks: list[Leak] = []
        pairs = options = 0
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            for found in pool.map(_block, range(10, 50)):
                leaks += found.leaks
                pairs += found.pairs
                options += found.options

        assert leaks == []
        assert pairs == 10_000
        assert options > 2_000
