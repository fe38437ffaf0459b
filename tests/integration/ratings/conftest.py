"""A database of their own for these tests, emptied for each, and matches out of memory.

The rating log cannot be emptied by any ordinary means and the catch-up knows one order only, so
what one test applied would stand in the next one's way.
"""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from django.db import connections
from psycopg import sql
from psycopg.conninfo import make_conninfo
from pytest_django.plugin import DjangoDbBlocker

from ratings import source
from tests.integration.ratings.fakes import ANN, BEN, CAT, DAN, FakeQueries
from tests.support.servers import TEMPLATE, Servers

EMPTY = """
ALTER TABLE ratings_ratingevent DISABLE TRIGGER USER;
TRUNCATE ratings_ratingevent, ratings_rating;
UPDATE ratings_catchup SET ended_order = NULL, match_id = NULL;
ALTER TABLE ratings_ratingevent ENABLE ALWAYS TRIGGER append_only_row;
ALTER TABLE ratings_ratingevent ENABLE ALWAYS TRIGGER append_only_truncate;
"""


@pytest.fixture(scope="session")
def clone(servers: Servers) -> str:
    """Clone the migrated template; returns the clone's name."""
    name = f"ratings_{uuid4().hex}"
    with psycopg.connect(servers.superuser_url, autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                sql.Identifier(name), sql.Identifier(TEMPLATE)
            )
        )
    return name


@pytest.fixture
def database(servers: Servers, clone: str, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """Point Django at the clone, empty; yields its name."""
    with psycopg.connect(make_conninfo(servers.owner_url, dbname=clone)) as connection:
        connection.execute(EMPTY)
    settings = connections["default"].settings_dict
    usual = settings["NAME"]
    connections.close_all()
    settings["NAME"] = clone
    try:
        with django_db_blocker.unblock():
            yield clone
    finally:
        connections.close_all()
        settings["NAME"] = usual


def _connected(url: str, database: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(make_conninfo(url, dbname=database), autocommit=True) as connection:
        yield connection


@pytest.fixture
def owner(servers: Servers, database: str) -> Iterator[psycopg.Connection]:
    """Connect to the test's database as the owner of its tables."""
    yield from _connected(servers.owner_url, database)


@pytest.fixture
def superuser(servers: Servers, database: str) -> Iterator[psycopg.Connection]:
    """Connect to the test's database as one whom no right holds back."""
    yield from _connected(servers.superuser_url, database)


@pytest.fixture
def auditor(servers: Servers, database: str) -> Iterator[psycopg.Connection]:
    """Connect to the test's database as one who only reads."""
    yield from _connected(servers.auditor_url, database)


@pytest.fixture
def matches(
    database: str,  # noqa: ARG001 - what is applied must have somewhere to go
    monkeypatch: pytest.MonkeyPatch,
) -> FakeQueries:
    """Stand in for the queries of matches, with four players and no match yet."""
    fake = FakeQueries(names={ANN: "ann", BEN: "ben", CAT: "cat", DAN: "dan"})
    monkeypatch.setattr(source, "queries", fake)
    return fake
