"""The event store's own connections: opened at first use, and back by themselves.

Each process has one pool, made at the first call (so after a fork). Sessions
are in autocommit and prepare every statement at once. Nothing waits for ever:
not for a connection, not for the server, not for a network that swallows what
is sent.
"""

from __future__ import annotations

import atexit
import os
import re
import threading
import time
from collections.abc import Sequence
from functools import lru_cache
from itertools import count
from typing import Any, NamedTuple, TypeVar

import psycopg
import psycopg.abc
from django.conf import settings
from psycopg import conninfo, errors, generators
from psycopg.adapt import Transformer
from psycopg.pq import ExecStatus, Format
from psycopg_pool import ConnectionPool

CHECKOUT_TIMEOUT_S = 1.5
BOUNDS = {
    "connect_timeout": 2,
    "keepalives_idle": 5,
    "keepalives_interval": 1,
    "keepalives_count": 3,
    "tcp_user_timeout": 4_000,
}
"""What libpq is told of every connection, in seconds but for the last, which is in ms."""
ANSWER_TIMEOUT_S = 4.0
"""Longer than the session's statement_timeout: only a server that is gone gets so far."""
RETRY_WITHIN_S = 1.0
"""A call that lost its connection sooner is made once more."""

Param = str | bytes | None
"""Numbers and ids are passed as text: so every call of a statement has the same types, and one
prepared plan."""

RV = TypeVar("RV")


class Unavailable(Exception):
    """The log could not be reached or did not answer in time; whether it wrote is unknown."""


class Answer(NamedTuple):
    """Rows of a statement; `repeated` says that it was sent twice and may have run twice."""

    rows: list[tuple[Any, ...]]
    repeated: bool


class BoundedConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that gives up on a server that does not answer, and answers without a cursor.

    `ask` sends what a cursor would send. A cursor is made to adapt any values to
    any statement, and that took two thirds of the processor time of a short one
    (docs/adr/0014).
    """

    answer_timeout_s: float | None = ANSWER_TIMEOUT_S
    """How long it waits for an answer; None: for ever, where statements are not bounded either."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._statements: dict[str, bytes] = {}
        self._reader = Transformer()

    def ask(self, statement: str, params: Sequence[Param]) -> list[tuple[Any, ...]]:
        """The rows of a statement, which is prepared when it is first asked here."""
        name = self._statements.get(statement) or self._prepare(statement)
        pgconn = self.pgconn
        pgconn.send_query_prepared(
            name,
            [param.encode() if isinstance(param, str) else param for param in params],
            [Format.BINARY if isinstance(param, bytes) else Format.TEXT for param in params],
            result_format=Format.BINARY,
        )
        (result,) = self.wait(generators.execute(pgconn))
        if result.status != ExecStatus.TUPLES_OK:
            raise errors.error_from_result(result)
        self._reader.set_pgresult(result)
        return self._reader.load_rows(0, result.ntuples, tuple)

    def _prepare(self, statement: str) -> bytes:
        name = b"xqmj_%d" % len(self._statements)
        self.pgconn.send_prepare(name, _numbered(statement))
        (result,) = self.wait(generators.execute(self.pgconn))
        if result.status != ExecStatus.COMMAND_OK:
            raise errors.error_from_result(result)
        self._statements[statement] = name
        return name

    def wait(
        self,
        gen: psycopg.abc.PQGen[RV],
        interval: float = 0.1,
        timeout: float | None = None,
    ) -> RV:
        """Wait for an answer, by default for `answer_timeout_s`; too long closes the connection."""
        try:
            return super().wait(gen, interval, timeout or self.answer_timeout_s)
        except psycopg.errors._WaitTimeout as error:  # noqa: SLF001 - it has no other name
            # What is still to come answers the question given up: nobody may read it.
            self.pgconn.finish()
            raise _Silent(str(error)) from error


@lru_cache(maxsize=256)
def _numbered(statement: str) -> bytes:
    """The statement as PostgreSQL reads it: places are numbered, and a doubled `%` is one.

    >>> _numbered("SELECT %s LIKE '%%' || %b")
    b"SELECT $1 LIKE '%' || $2"
    """
    places = count(1)
    text = re.sub(r"%([sb%])", lambda m: "%" if m[1] == "%" else f"${next(places)}", statement)
    return text.encode()


class _Silent(psycopg.OperationalError):
    """No answer in time: trying again would only double the wait."""


_UNREACHABLE = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.ReadOnlySqlTransaction,
)

Pool = ConnectionPool[BoundedConnection]
_pool: Pool | None = None
_opening = threading.Lock()


def run(statement: str, params: Sequence[Param]) -> Answer:
    """Run one statement in one round trip and return its rows.

    A statement whose connection turns out to be lost (the server was restarted)
    is run once more on a new one, so it must be safe to run twice. Raises
    `Unavailable`.
    """
    pool = _pool or _open()
    started_s = time.monotonic()
    try:
        try:
            return Answer(_run_once(pool, statement, params), repeated=False)
        except _Lost:
            if time.monotonic() - started_s > RETRY_WITHIN_S:
                raise
            # Its neighbours were lost with it: none of them may fail the next call.
            pool.drain()
            return Answer(_run_once(pool, statement, params), repeated=True)
    except _UNREACHABLE as error:
        raise Unavailable(str(error)) from error


class _Lost(psycopg.OperationalError):
    """The connection was gone; the statement may or may not have run."""


def _run_once(pool: Pool, statement: str, params: Sequence[Param]) -> list[tuple[Any, ...]]:
    connection = pool.getconn()
    try:
        return connection.ask(statement, params)
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        if connection.closed and not isinstance(error, _Silent):
            raise _Lost(str(error)) from error
        raise
    finally:
        pool.putconn(connection)


def _open() -> Pool:
    global _pool  # noqa: PLW0603 - one pool a process is what it is for
    with _opening:
        if _pool is None:
            _pool = Pool(
                _address(),
                connection_class=BoundedConnection,
                kwargs={"autocommit": True},
                min_size=1,
                max_size=settings.XQMJ_POOL_SIZE,
                timeout=CHECKOUT_TIMEOUT_S,
                # Giving up soon makes the next call try at once, however long the outage was.
                reconnect_timeout=1.0,
                num_workers=2,
                name="eventstore",
                open=True,
            )
        return _pool


def _address() -> str:
    parts = conninfo.conninfo_to_dict(settings.DATABASE_URL)
    return conninfo.make_conninfo(
        settings.DATABASE_URL,
        options=f"{parts.get('options') or ''} {settings.SESSION_OPTIONS}".strip(),
        application_name=parts.get("application_name") or "xqmj eventstore",
        **BOUNDS,
    )


def close() -> None:
    """Close this process's connections; the next call opens new ones."""
    global _pool
    with _opening:
        pool, _pool = _pool, None
    if pool is not None:
        pool.close()


def _forget() -> None:
    """After a fork: the parent's sockets are not the child's to use or to close."""
    global _pool, _opening
    _pool, _opening = None, threading.Lock()


os.register_at_fork(after_in_child=_forget)
atexit.register(close)
