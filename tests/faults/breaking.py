"""Connections to PostgreSQL that break at a statement, or from one on, for the thread that asks."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
from psycopg import errors

from matches.eventstore.pool import BoundedConnection

Whole = Callable[[], Any]
Way = Callable[[Any, Whole], Any]
"""What becomes of a statement: it is given the connection, and what would send it and wait."""


def _refused(connection: Any, _whole: Whole) -> Any:
    """The server gives up on it; a transaction that it stands in is lost."""
    raise errors.error_from_result(
        connection.pgconn.exec_(b"DO $$ BEGIN RAISE query_canceled; END $$")
    )


def _unsent(connection: Any, _whole: Whole) -> Any:
    """The connection is lost before the server has heard anything."""
    connection.pgconn.finish()
    raise psycopg.OperationalError("the connection is lost")


def _unanswered(connection: Any, whole: Whole) -> Any:
    """The server does it, and the connection is lost before its answer comes."""
    whole()
    return _unsent(connection, whole)


WAYS: dict[str, Way] = {"refused": _refused, "unsent": _unsent, "unanswered": _unanswered}


class Broken:
    """How many statements came, and how many of them were broken."""

    def __init__(self) -> None:
        self.statements = 0
        self.broken = 0


@contextlib.contextmanager
def breaking(way: str, *, first: int, last: int) -> Iterator[Broken]:
    """Break this thread's statements number `first` to `last`, commits and rollbacks included."""
    count, me = Broken(), threading.get_ident()
    ask, wait = BoundedConnection.ask, BoundedConnection.wait
    inside = False

    def sent(connection: Any, whole: Whole) -> Any:
        nonlocal inside
        if inside or threading.get_ident() != me:
            return whole()
        inside = True
        try:
            count.statements += 1
            if not first <= count.statements <= last:
                return whole()
            count.broken += 1
            return WAYS[way](connection, whole)
        finally:
            inside = False

    def broken_ask(connection: Any, *args: Any) -> Any:
        return sent(connection, lambda: ask(connection, *args))

    def broken_wait(connection: Any, *args: Any, **named: Any) -> Any:
        return sent(connection, lambda: wait(connection, *args, **named))

    patched: Any = BoundedConnection
    patched.ask, patched.wait = broken_ask, broken_wait
    try:
        yield count
    finally:
        patched.ask, patched.wait = ask, wait
