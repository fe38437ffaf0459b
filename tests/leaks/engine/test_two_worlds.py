from __future__ import annotations

import pytest

from tests.leaks.engine.level import ENGINE
from tests.support.spread import blocks

PAIRS = 10_000
"""These show what is visible in one pair of 2,170 with a chance of 99 %."""
BLOCK = 250


class TestEngine:
    """A seat and a spectator learn nothing that depends on what is hidden from them (I9)."""

    @pytest.mark.parametrize("first_seed", blocks(PAIRS // BLOCK, quick=6))
    def test_gives_equal_bytes_in_10000_pairs_of_worlds(self, first_seed: int) -> None:
        found = ENGINE.tally(first_seed, BLOCK)

        assert found.leaks == []
        assert found.pairs == BLOCK
        # Swaps that give or take a claim or a win are where a leak would show.
        assert found.options > BLOCK // 5
