"""What the tests of the API share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from matches.domain import deal
from tests.support import ahead
from tests.support.ahead import AheadStore


@pytest.fixture
def clock() -> Iterator[AheadStore]:
    """A clock that the test sets ahead."""
    with ahead.clock() as found:
        yield found


@pytest.fixture
def rigged(monkeypatch: pytest.MonkeyPatch) -> Callable[[tuple[str, ...]], None]:
    """Make seat 0 the first dealer and every hand's tiles lie in this order."""

    def rig(order: tuple[str, ...]) -> None:
        monkeypatch.setattr(deal, "first_dealer", lambda *_args: 0)
        monkeypatch.setattr(deal, "order", lambda *_args: order)

    return rig
