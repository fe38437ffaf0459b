from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from tests.leaks.engine.worlds import Leak, Tally
from tests.leaks.http import worlds


def _block(number: int) -> Tally:
    """Pairs of a range of seeds that no other block has; runs in a process of its own, too."""
    import django

    django.setup()
    with worlds.parlour():
        return worlds.tally(1_000_000 * number, 20)


class TestHttp:
    """A seat and a spectator learn nothing over HTTP that depends on what is hidden (I9)."""

    @pytest.mark.parametrize("number", range(3))
    def test_gives_equal_answers_in_60_pairs_of_worlds(self, number: int) -> None:
        found = _block(number)

        assert found.leaks == []
        assert found.pairs == 20
        assert found.options >= 3

    @pytest.mark.slow
    @pytest.mark.timeout(900)
    def test_gives_equal_answers_in_500_pairs_of_worlds(self) -> None:
        leaks: list[Leak] = []
        pairs = options = 0
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            for found in pool.map(_block, range(10, 35)):
                leaks += found.leaks
                pairs += found.pairs
                options += found.options

        assert leaks == []
        assert pairs == 500
        assert options > 100
