"""A database for tests of the event store alone, and sessions of each role in it."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from matches.eventstore import pool
from matches.services import heartbeat
from tests.support.servers import Servers, for_this_worker, point_django_at


@pytest.fixture(scope="package", autouse=True)
def servers(servers: Servers) -> Iterator[Servers]:
    """A database of this package's own: what is written here, no match would write.

    Who reads all matches, as ratings do, must not come upon it.
    """
    heartbeat.stop()
    pool.close()
    own = for_this_worker("eventstore")
    point_django_at(own)
    yield own
    pool.close()
    point_django_at(servers)


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
