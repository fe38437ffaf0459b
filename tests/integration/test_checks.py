"""The database is looked at before it is trusted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import load_backend

from tests.support.servers import Servers
from xqmj_site import checks, environ

pytestmark = pytest.mark.django_db


@contextmanager
def connection_to(url: str, options: str = "") -> Iterator[BaseDatabaseWrapper]:
    """Open a connection of Django's to another role or with other settings."""
    wanted = {**connections.settings["default"], **environ.database(url, options=options)}
    backend = load_backend(wanted["ENGINE"])
    connection = backend.DatabaseWrapper(wanted, "elsewhere")
    try:
        yield connection
    finally:
        connection.close()


def codes(found: list[checks.Fault]) -> list[str]:
    return [fault.code for fault in found]


class TestDefaults:
    def test_are_fit(self) -> None:
        assert checks.faults(connections["default"]) == []

    def test_pass_the_command(self) -> None:
        call_command("check", databases=["default"])


class TestDurability:
    def test_misses_synchronous_commit(self, servers: Servers) -> None:
        with connection_to(servers.app_url, "-c synchronous_commit=off") as connection:
            assert codes(checks.faults(connection)) == ["synchronous_commit_off"]

    @pytest.mark.parametrize("name", ["fsync", "full_page_writes"])
    def test_misses(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        # The server's own are on and stay on: what the question would answer is said instead.
        sql = checks.SETTINGS_SQL.replace(f"current_setting('{name}')", "'off'")
        monkeypatch.setattr(checks, "SETTINGS_SQL", sql)

        assert codes(checks.faults(connections["default"])) == [f"{name}_off"]

    def test_stops_a_role_before_it_serves(self, monkeypatch: pytest.MonkeyPatch) -> None:
        sql = checks.SETTINGS_SQL.replace("current_setting('fsync')", "'off'")
        monkeypatch.setattr(checks, "SETTINGS_SQL", sql)

        with pytest.raises(SystemExit) as ended:
            checks.refuse_unfit_database()

        assert ended.value.code == 3

    def test_stops_the_command(self, monkeypatch: pytest.MonkeyPatch) -> None:
        sql = checks.SETTINGS_SQL.replace("current_setting('fsync')", "'off'")
        monkeypatch.setattr(checks, "SETTINGS_SQL", sql)

        with pytest.raises(CommandError, match="fsync is off"):
            call_command("check", databases=["default"])


class TestRights:
    def test_refuse_the_owner(self, servers: Servers) -> None:
        with connection_to(servers.owner_url) as connection:
            found = checks.rights_faults(connection)

        assert set(codes(found)) == {"log_is_writable"}
        assert any("es.match_event" in fault.message for fault in found)

    def test_refuse_a_superuser(self, servers: Servers) -> None:
        with connection_to(servers.superuser_url) as connection:
            assert codes(checks.rights_faults(connection)) == ["role_is_superuser"]

    @pytest.mark.parametrize("right", ["UPDATE", "DELETE", "TRUNCATE", "UPDATE (payload)"])
    def test_miss_no_grant_that_changes_the_log(self, servers: Servers, right: str) -> None:
        with psycopg.connect(servers.superuser_url) as granting:
            granting.execute(f"GRANT {right} ON es.match_event TO xqmj_auditor")
            granting.commit()
            try:
                with connection_to(servers.auditor_url) as connection:
                    assert codes(checks.rights_faults(connection)) == ["log_is_writable"]
            finally:
                granting.execute(f"REVOKE {right} ON es.match_event FROM xqmj_auditor")

    def test_cover_the_other_append_only_tables(self, servers: Servers) -> None:
        listed = settings.XQMJ_APPEND_ONLY_TABLES

        with psycopg.connect(servers.superuser_url) as asking:
            missing = [
                name
                for name in listed
                if asking.execute("SELECT to_regclass(%s)", (name,)).fetchone() == (None,)
            ]

        assert missing == []


class TestAway:
    def test_is_no_reason_to_end(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with connection_to("postgresql://nobody@127.0.0.1:1/none") as nowhere:
            monkeypatch.setattr(checks, "connections", {"default": nowhere})

            checks.refuse_unfit_database()
