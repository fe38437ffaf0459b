"""Time without bound, for commands that go through whole tables.

What a request asks for is bounded on both sides: the session's settings bound a
statement, a lock and an idle transaction, and the connection gives up on a
server that does not answer. A grown log takes longer to read than any of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

_LIFT = """
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
"""


@contextmanager
def unbounded() -> Iterator[None]:
    """Let this thread's statements take as long as they must; not to be used in a transaction.

    A server that is gone is noticed all the same: keepalives go on. At the end
    the connection is closed, and the next one is bounded again.
    """
    connection.ensure_connection()
    connection.connection.answer_timeout_s = None
    try:
        with connection.cursor() as cursor:
            cursor.execute(_LIFT)
        yield
    finally:
        connection.close()
