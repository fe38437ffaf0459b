"""Rigged walls for the tests of the match."""

from __future__ import annotations

import pytest

from matches.domain import deal
from tests.support.sitting import Rig


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Rig:
    """Lay the walls by hand, and let seat 0 deal first."""
    laid = Rig()
    monkeypatch.setattr(deal, "order", laid.order)
    monkeypatch.setattr(deal, "first_dealer", laid.first_dealer)
    return laid
