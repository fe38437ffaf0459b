"""The audit's access to this worker's database, and a hand that gets past every guard of it."""

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
def intruder(servers: Servers) -> Iterator[psycopg.Connection]:
    """A superuser's transaction in which no trigger of the log fires; undone at its end.

    The audit has its own connection, so a test commits, looks, and puts back.
    """
    with psycopg.connect(servers.superuser_url, autocommit=True) as connection:
        for table in ("match_event", "match_head", "match_seat"):
            connection.execute(f"ALTER TABLE es.{table} DISABLE TRIGGER ALL")
        yield connection
        for table in ("match_event", "match_head", "match_seat"):
            connection.execute(f"ALTER TABLE es.{table} ENABLE ALWAYS TRIGGER append_only_row")
            connection.execute(f"ALTER TABLE es.{table} ENABLE ALWAYS TRIGGER append_only_truncate")
