"""A restored dump is not served before it was migrated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connections

from matches.api import health
from matches.eventstore.rows import FINISHED, Summary
from tests.integration.eventstore.streams import begun, drawn
from tests.support.api import Api, InProcess
from xqmj_site import checks

pytestmark = pytest.mark.django_db

OLDER = "DELETE FROM django_migrations WHERE (app, name) = ('matches', '0002_log')"
ELSEWHERE = "UPDATE es.commit_order SET base = base - 1000000000"


@pytest.fixture
def restored(superuser: psycopg.Connection) -> Iterator[Callable[[str], None]]:
    """Change the database to what a dump may bring; afterwards it is as it was."""
    stream = begun(rated=True, players=(uuid4().hex, uuid4().hex))
    stream.append(drawn(), status=FINISHED, summary=Summary("score", 1, (3, 8)))
    superuser.execute("CREATE TABLE kept AS SELECT * FROM django_migrations")
    superuser.execute("CREATE TABLE kept_order AS SELECT base FROM es.commit_order")
    health._found.forget()

    def change(statement: str) -> None:
        superuser.execute(statement)

    yield change
    health._found.forget()
    superuser.execute("INSERT INTO django_migrations TABLE kept ON CONFLICT DO NOTHING")
    superuser.execute("UPDATE es.commit_order SET base = (TABLE kept_order)")
    superuser.execute("DROP TABLE kept, kept_order")


def found() -> list[str]:
    return [fault.code for fault in checks.faults(connections["default"])]


class TestRestoredDump:
    def test_is_served_where_nothing_is_to_be_done(self, restored: Callable[[str], None]) -> None:
        restored("SELECT")

        assert found() == []

    def test_that_is_older_than_the_code_is_not_served(
        self, restored: Callable[[str], None]
    ) -> None:
        restored(OLDER)

        assert found() == ["migrations_pending"]
        with pytest.raises(SystemExit):
            checks.refuse_unfit_database()

    def test_of_another_cluster_is_not_served_before_its_order_goes_on(
        self, restored: Callable[[str], None]
    ) -> None:
        restored(ELSEWHERE)
        before = found()
        restored("SELECT es.go_on_in_order()")

        assert before == ["order_behind"]
        assert found() == []

    @pytest.mark.parametrize(
        ("change", "code"), [(OLDER, "migrations_pending"), (ELSEWHERE, "order_behind")]
    )
    def test_is_told_of_by_readiness_and_by_the_command(
        self, restored: Callable[[str], None], change: str, code: str
    ) -> None:
        restored(change)

        answer = Api(InProcess()).get("readiness")

        assert (answer.status, answer.json["facts"][1]["found"]) == (503, code)
        with pytest.raises(CommandError, match="run migrate"):
            call_command("check", databases=["default"])

    def test_may_be_checked_by_the_owner_who_migrates_it(
        self, restored: Callable[[str], None], settings: Any
    ) -> None:
        restored(OLDER)
        settings.XQMJ_OWNER_ROLE = settings.XQMJ_APP_ROLE

        assert checks.check_database(databases=["default"]) == []
