"""What tests of offers share: races of players, each in a thread of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import connections

from matches.eventstore import store
from matches.services.accounts import Identity
from matches.services.errors import ServiceError

RACERS = 16


def code(call: Callable[[], Any]) -> str:
    """The refusal of a call; it must be one."""
    with pytest.raises(ServiceError) as refused:
        call()
    return refused.value.code


def in_thread(call: Callable[[], Any]) -> Callable[[], Any]:
    """The call, with the connection of its thread closed after it."""

    def run() -> Any:
        try:
            return call()
        finally:
            connections.close_all()

    return run


def matches_of(who: Identity) -> list[UUID]:
    """All matches of a player."""
    return [listed.match_id for listed in store.my_matches(who.id, limit=50)]
