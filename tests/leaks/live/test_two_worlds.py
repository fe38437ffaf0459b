from __future__ import annotations

import pytest

from tests.leaks.live.level import LIVE
from tests.support.spread import blocks

PAIRS = 500
BLOCK = 20


class TestLive:
    """A seat and a spectator learn nothing from a stream that depends on what is hidden (I9)."""

    @pytest.mark.parametrize("first_seed", blocks(PAIRS // BLOCK, quick=3))
    def test_gives_equal_streams_in_500_pairs_of_worlds(self, first_seed: int) -> None:
        found = LIVE.tally(first_seed, BLOCK)

        assert found.leaks == []
        assert found.pairs == BLOCK
        assert found.options >= 3
