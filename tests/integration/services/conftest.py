"""The services over this worker's own database and Valkey."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest
from pytest_django.plugin import DjangoDbBlocker

from matches.eventstore import pool
from matches.models import Player
from matches.services import heartbeat, notices, tokens
from matches.services.accounts import Identity
from tests.support.servers import Servers


@pytest.fixture(scope="package", autouse=True)
def _services(servers: Servers) -> Iterator[None]:
    assert servers.app_url
    heartbeat.ensure()
    yield
    heartbeat.stop()
    notices.flush()
    tokens.forget_all()
    pool.close()


@pytest.fixture
def player(
    django_db_setup: None,  # noqa: ARG001 - the database must be there
    django_db_blocker: DjangoDbBlocker,
) -> Callable[..., Identity]:
    """Makes a new player, registered unless said otherwise."""

    def make(kind: str = "registered") -> Identity:
        name = f"p{uuid4().hex[:16]}"
        with django_db_blocker.unblock():
            made = Player.objects.create_user(name, None, kind=kind)
        return Identity(made.public_id.hex, kind, None if kind == "guest" else name)

    return make
