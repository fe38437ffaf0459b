from __future__ import annotations

import pytest

from tests.leaks.http.level import HTTP
from tests.support.spread import blocks

PAIRS = 500
BLOCK = 20


class TestHttp:
    """A seat and a spectator learn nothing over HTTP that depends on what is hidden (I9)."""

    @pytest.mark.parametrize("first_seed", blocks(PAIRS // BLOCK, quick=3))
    def test_gives_equal_answers_in_500_pairs_of_worlds(self, first_seed: int) -> None:
        found = HTTP.tally(first_seed, BLOCK)

        assert found.leaks == []
        assert found.pairs == BLOCK
        assert found.options >= 3
