"""Long tests in blocks, which xdist hands to whichever worker is free."""

from __future__ import annotations

import pytest
from _pytest.mark import ParameterSet
from xdist.scheduler import LoadFileScheduling

MARK = "block-"


def blocks(count: int, *, quick: int) -> list[ParameterSet]:
    """Parameters of so many blocks: first seeds, so far apart that no two blocks meet.

    The first few run always, the others where slow tests do.
    """
    return [
        pytest.param(
            1_000_000 * number,
            id=f"{MARK}{number}",
            marks=() if number < quick else pytest.mark.slow,
        )
        for number in range(count)
    ]


class Spread(LoadFileScheduling):  # type: ignore[misc] # the package has no types
    """Keeps each file whole on one worker, but for blocks: each of them goes alone."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return nodeid if f"[{MARK}" in nodeid else file
