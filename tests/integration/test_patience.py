from __future__ import annotations

import pytest
from django.db import OperationalError, connection

from xqmj_site.database.patience import unbounded

pytestmark = pytest.mark.django_db

BOUNDS = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")


def bounds() -> list[str]:
    """What bounds this thread's statements, as the server says it."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(f'current_setting({name!r})' for name in BOUNDS)}")
        return list(cursor.fetchone())


class TestUnbounded:
    def test_lets_a_statement_and_its_answer_take_longer_than_a_request_may(self) -> None:
        with unbounded(), connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(4.5)")

        with connection.cursor() as cursor, pytest.raises(OperationalError, match="timeout"):
            cursor.execute("SELECT pg_sleep(4.5)")

    def test_holds_to_its_end(self) -> None:
        with unbounded():
            within = bounds()

        assert (within, bounds()) == (["0", "0", "0"], ["3s", "2s", "5s"])
