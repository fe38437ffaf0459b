"""A statement that takes long: whoever reads a table waits for its lock."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep

import psycopg
from psycopg import sql

LONG_S = 4.5
"""Longer than a session of ours lets a statement take, and its connection an answer."""
_PATIENCE_S = 60
_AWAITED = "SELECT FROM pg_locks WHERE relation = %s::regclass AND NOT granted"


@contextmanager
def locked(owner_url: str, table: str) -> Iterator[None]:
    """Let the first who asks for the table wait `LONG_S`; somebody has to ask for it."""
    with psycopg.connect(owner_url) as owner, psycopg.connect(owner_url, autocommit=True) as seer:
        owner.execute(sql.SQL("LOCK TABLE {}").format(sql.Identifier(*table.split("."))))

        def release() -> None:
            end_s = monotonic() + _PATIENCE_S
            while seer.execute(_AWAITED, (table,)).fetchone() is None and monotonic() < end_s:
                sleep(0.01)
            sleep(LONG_S)
            owner.rollback()

        releasing = threading.Thread(target=release)
        releasing.start()
        try:
            yield
        finally:
            releasing.join()
