"""Fixtures of the services' unit tests: no server, no clock, a log in memory."""

from __future__ import annotations

import pytest

from matches.domain import deal
from tests.support.parlour import Parlour
from tests.support.sitting import Rig


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Rig:
    """Walls laid by the test; seat 0 deals first."""
    laid = Rig()
    monkeypatch.setattr(deal, "order", laid.order)
    monkeypatch.setattr(deal, "first_dealer", laid.first_dealer)
    return laid


@pytest.fixture
def parlour() -> Parlour:
    """A server over a log in memory."""
    return Parlour()
