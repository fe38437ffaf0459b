"""The whole log of a database of its own: other tests keep things in theirs that are no matches."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from django.conf import settings
from psycopg import conninfo, sql

from matches.eventstore import pool
from tests.integration.audit.stored import ended, recorder, store_whole
from tests.support.locking import locked
from tests.support.recording import Recorder
from tests.support.servers import ROOT, TEMPLATE, Servers


def _of(url: str, database: str) -> str:
    return conninfo.make_conninfo(url, dbname=database)


@pytest.fixture(scope="module")
def database(servers: Servers) -> Iterator[str]:
    """A fresh database beside this worker's."""
    name = f"xqmj_audit_{uuid4().hex[:12]}"
    with psycopg.connect(_of(servers.superuser_url, "postgres"), autocommit=True) as connection:
        command = "CREATE DATABASE {} TEMPLATE {} OWNER xqmj_owner"
        names = sql.Identifier(name), sql.Identifier(TEMPLATE)
        connection.execute(sql.SQL(command).format(*names))
    yield name
    with psycopg.connect(_of(servers.superuser_url, "postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="module")
def logs(servers: Servers, database: str) -> list[Recorder]:
    """Matches in it: 58 that ended, more than one batch, and two that go on."""
    usual = settings.DATABASE_URL
    pool.close()
    settings.DATABASE_URL = _of(servers.app_url, database)
    stored = [store_whole(ended(seed)) for seed in range(58)]
    for seed in (3, 4):
        log = recorder(seed)
        log.start()
        log.play(until_hand=2)
        stored.append(store_whole(log))
    pool.close()
    settings.DATABASE_URL = usual
    return stored


def run(url: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, as the role that the address names."""
    return subprocess.run(
        [sys.executable, "manage.py", "verify_log", *arguments],
        cwd=ROOT,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "xqmj_site.settings.test",
            "DATABASE_URL": url,
            **environment,
        },
        capture_output=True,
        check=False,
        text=True,
    )


class TestWholeLog:
    def test_is_proven_with_its_size_and_speed(
        self, servers: Servers, database: str, logs: list[Recorder]
    ) -> None:
        done = run(_of(servers.app_url, database), "--all")

        events = sum(len(log.rows) for log in logs)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"60 matches, {events} events, 0 not proven (" in done.stdout

    def test_is_proven_by_the_role_that_only_reads(
        self, servers: Servers, database: str, logs: list[Recorder]
    ) -> None:
        done = run(_of(servers.auditor_url, database), "--all", "--ended")

        assert done.returncode == 0, done.stdout + done.stderr
        assert "58 matches" in done.stdout
        assert len(logs) == 60

    @pytest.mark.slow
    @pytest.mark.usefixtures("logs")
    def test_is_proven_however_long_a_statement_takes(
        self, servers: Servers, database: str
    ) -> None:
        with locked(_of(servers.owner_url, database), "es.match_head"):
            done = run(_of(servers.app_url, database), "--all")

        assert done.returncode == 0, done.stdout + done.stderr
        assert "60 matches" in done.stdout

    def test_names_each_match_that_is_wrong(
        self, servers: Servers, database: str, logs: list[Recorder]
    ) -> None:
        edited, beheaded = logs[7].match_id, logs[55].match_id
        with psycopg.connect(_of(servers.superuser_url, database), autocommit=True) as connection:
            for table in ("match_event", "match_head", "match_seat"):
                connection.execute(f"ALTER TABLE es.{table} DISABLE TRIGGER ALL")
            connection.execute(
                "UPDATE es.match_event SET at_ms = at_ms + 1 WHERE match_id = %s AND seq = 5",
                (edited,),
            )
            for table in ("match_seat", "match_head"):
                connection.execute(f"DELETE FROM es.{table} WHERE match_id = %s", (beheaded,))

        done = run(_of(servers.app_url, database), "--all")

        assert done.returncode == 1
        assert f"match {edited}: hash_mismatch: event 5:" in done.stdout
        assert f"match {beheaded}: its events have no head" in done.stdout
        assert "2 not proven" in done.stdout
        assert "2 not proven" in done.stderr
