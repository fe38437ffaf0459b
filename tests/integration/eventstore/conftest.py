"""The event store's own connections, to this worker's database."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from matches.eventstore import pool
from tests.support.servers import Servers


@pytest.fixture(scope="package", autouse=True)
def _connections(servers: Servers) -> Iterator[None]:
    assert servers.app_url
    yield
    pool.close()


@pytest.fixture
def app(servers: Servers) -> Iterator[psycopg.Connection]:
    """An autocommit session of the app's role."""
    with psycopg.connect(servers.app_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def owner(servers: Servers) -> Iterator[psycopg.Connection]:
    """An autocommit session of the owner of every table."""
    with psycopg.connect(servers.owner_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def superuser(servers: Servers) -> Iterator[psycopg.Connection]:
    """An autocommit session of the superuser."""
    with psycopg.connect(servers.superuser_url, autocommit=True) as connection:
        yield connection
