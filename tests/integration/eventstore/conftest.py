"""A database for tests of the event store alone, and sessions of each role in it."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.support.servers import Servers, own_database


@pytest.fixture(scope="package", autouse=True)
def servers(servers: Servers) -> Iterator[Servers]:
    """A database of this package's own: what is written here, no match would write.

    Who reads all matches, as ratings do, must not come upon it.
    """
    with own_database("eventstore", instead_of=servers) as own:
        yield own


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
