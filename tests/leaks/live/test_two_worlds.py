from __future__ import annotations

import pytest

from tests.leaks.live.level import LIVE
from tests.leaks.live.sockets import SOCKETS
from tests.support.spread import blocks

PAIRS = 500
SOCKET_PAIRS = 100
BLOCK = 20


class TestLive:
    """A seat and a spectator learn nothing from a stream that depends on what is hidden (I9)."""

    @pytest.mark.parametrize("first_seed", blocks(PAIRS // BLOCK, quick=3))
    def test_gives_equal_streams_in_500_pairs_of_worlds(self, first_seed: int) -> None:
        found = LIVE.tally(first_seed, BLOCK)

        assert found.leaks == []
        assert found.pairs == BLOCK
        assert found.options >= 3


class TestSockets:
    """Nor from a socket, though it plays and asks by it (I9)."""

    @pytest.mark.parametrize("first_seed", blocks(SOCKET_PAIRS // BLOCK, quick=2))
    def test_give_equal_lines_and_answers_in_100_pairs_of_worlds(self, first_seed: int) -> None:
        found = SOCKETS.tally(first_seed, BLOCK)

        assert found.leaks == []
        assert found.pairs == BLOCK
        assert found.options >= 3
