"""Migrations: without the roles, with them, and back."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import psycopg
import pytest
from psycopg import conninfo, sql

from tests.integration.eventstore.streams import begun
from tests.support.servers import ROOT, Servers
from tests.support.waiting import until


def migrate(
    owner_url: str, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `manage.py migrate` as the owner."""
    return subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity=0", *arguments],
        cwd=ROOT,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "xqmj_site.settings.test",
            "DATABASE_URL": owner_url,
            "DATABASE_OWNER_URL": owner_url,
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def empty_url(servers: Servers) -> Iterator[str]:
    """The owner's address of a new database in which nothing was granted to anybody."""
    name = f"empty_{uuid4().hex[:8]}"
    with psycopg.connect(servers.superuser_url, autocommit=True) as superuser:
        superuser.execute(
            sql.SQL("CREATE DATABASE {} OWNER xqmj_owner").format(sql.Identifier(name))
        )
        parts = conninfo.conninfo_to_dict(servers.owner_url)
        address = sql.Identifier(name).as_string(superuser).strip('"')
        yield servers.owner_url.replace(f"/{parts['dbname']}?", f"/{address}?")
        superuser.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def app_rights(owner_url: str) -> tuple[bool, ...]:
    """Whether the app's role may use the log, read it, change it, and write a table of ours."""
    with psycopg.connect(owner_url) as owner:
        row = owner.execute(
            "SELECT has_schema_privilege('xqmj_app', 'es', 'USAGE'),"
            " has_table_privilege('xqmj_app', 'es.match_event', 'SELECT'),"
            " has_table_privilege('xqmj_app', 'es.match_event', 'INSERT'),"
            " has_table_privilege('xqmj_app', 'matches_player', 'INSERT')"
        ).fetchone()
    assert row is not None
    return row


APPENDS = "LOCK TABLE es.match_head, es.match_event, es.match_seat IN ROW EXCLUSIVE MODE"
"""The locks that an append takes."""
WAITS = """
SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid)
 WHERE NOT l.granted AND a.datname = current_database()
"""


@pytest.mark.slow
class TestMigrate:
    def test_works_without_the_roles_and_grants_when_they_are_there(self, empty_url: str) -> None:
        absent = {"XQMJ_APP_ROLE": "nobody_app", "XQMJ_AUDITOR_ROLE": "nobody_auditor"}

        first = migrate(empty_url, **absent)
        without = app_rights(empty_url)
        again = migrate(empty_url)

        assert (first.returncode, again.returncode) == (0, 0), first.stderr + again.stderr
        assert without == (False, False, False, False)
        assert app_rights(empty_url) == (True, True, False, True)

    def test_goes_back_while_the_log_is_empty(self, empty_url: str) -> None:
        assert migrate(empty_url).returncode == 0

        back = migrate(empty_url, "matches", "0001")

        assert back.returncode == 0, back.stderr
        with psycopg.connect(empty_url) as owner:
            assert owner.execute("SELECT to_regnamespace('es')").fetchone() == (None,)

    def test_locks_nobody_out_of_the_log(self, empty_url: str) -> None:
        assert migrate(empty_url, "matches", "0002").returncode == 0
        with (
            ThreadPoolExecutor(1) as threads,
            psycopg.connect(empty_url) as appending,
            psycopg.connect(empty_url) as other,
        ):
            appending.execute(APPENDS)
            migrating = threads.submit(migrate, empty_url)
            with psycopg.connect(empty_url, autocommit=True) as seer:
                assert until(
                    lambda: seer.execute(WAITS).fetchone() is not None or migrating.done(),
                    within_s=60,
                )
            other.execute(f"{APPENDS} NOWAIT")
            other.rollback()
            appending.rollback()

        assert migrating.result().returncode == 0, migrating.result().stderr

    def test_builds_an_index_again_that_an_interrupted_run_left(
        self, servers: Servers, empty_url: str
    ) -> None:
        database = conninfo.conninfo_to_dict(empty_url)["dbname"]
        assert migrate(empty_url, "matches", "0002").returncode == 0
        with psycopg.connect(servers.superuser_url, dbname=database) as superuser:
            superuser.execute("SET ROLE xqmj_owner")
            superuser.execute("CREATE INDEX match_event_invited ON es.match_event (at_ms)")
            superuser.execute("RESET ROLE")
            superuser.execute(
                "UPDATE pg_index SET indisvalid = false"
                " WHERE indexrelid = 'es.match_event_invited'::regclass"
            )

        done = migrate(empty_url)

        assert done.returncode == 0, done.stderr
        with psycopg.connect(empty_url) as owner:
            row = owner.execute(
                "SELECT indisvalid, pg_get_indexdef(indexrelid) ~ 'invited.*at_ms, match_id'"
                "  FROM pg_index WHERE indexrelid = 'es.match_event_invited'::regclass"
            ).fetchone()
        assert row == (True, True)

    def test_never_throws_a_log_away(self, servers: Servers) -> None:
        begun()

        back = migrate(servers.owner_url, "matches", "0001")

        assert back.returncode != 0
        assert "the log is not empty" in back.stderr
        # What is beside the log went, and has to be there for others.
        assert migrate(servers.owner_url).returncode == 0
