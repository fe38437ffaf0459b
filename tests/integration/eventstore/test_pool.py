"""The store's connections: bounded waits, one error for whatever is away, back by itself."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings

from matches.eventstore import pool, store
from matches.eventstore.ids import new_match_id
from matches.eventstore.rows import Appended
from tests.integration.eventstore.streams import begun, drawn, key
from tests.support import servers as support
from tests.support.servers import Servers
from xqmj_site.devstack import keyring
from xqmj_site.devstack.postgres import PostgresServer

HUNG_S = 20
"""Every wait here is bounded by a few seconds: whatever takes this long is not."""


@pytest.fixture
def _fresh() -> Iterator[None]:
    """Connections that only this test uses."""
    pool.close()
    yield
    pool.close()


def backends(superuser: psycopg.Connection) -> list[int]:
    """Process ids of the store's sessions."""
    rows = superuser.execute(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'xqmj eventstore'"
        " AND datname = current_database()"
    ).fetchall()
    return [pid for (pid,) in rows]


@pytest.mark.usefixtures("_fresh")
class TestPool:
    def test_is_in_autocommit_with_bounded_sessions(self) -> None:
        def shown(name: str) -> Any:
            return pool.run("SELECT current_setting(%s)", (name,)).rows[0][0]

        assert shown("statement_timeout") == "3s"
        assert shown("lock_timeout") == "2s"
        assert shown("idle_in_transaction_session_timeout") == "5s"
        before = pool.run("SELECT pg_current_xact_id()::text", ()).rows
        assert before != pool.run("SELECT pg_current_xact_id()::text", ()).rows

    def test_prepares_each_statement_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(settings, "XQMJ_POOL_SIZE", 1)
        stream = begun()
        for index in range(4):
            stream.append(drawn(actor=0), named=key(index)) if index else stream.append(drawn())
            store.load(stream.match_id)

        prepared = pool.run(
            "SELECT substring(statement FROM 'es\\.(\\w+)'), count(*) FROM pg_prepared_statements"
            " WHERE statement ~ 'es\\.(append|create|load)_' GROUP BY 1",
            (),
        ).rows

        assert dict(prepared) == {"append_events": 1, "create_match": 1, "load_match": 1}

    def test_gives_up_on_a_statement_that_takes_too_long(self) -> None:
        begun_s = time.monotonic()

        with pytest.raises(store.Unavailable, match="statement timeout"):
            pool.run("SELECT pg_sleep(60)", ())

        assert 2.5 < time.monotonic() - begun_s < HUNG_S

    def test_gives_up_on_a_lock_that_is_held(self, owner: psycopg.Connection) -> None:
        stream = begun()
        with owner.transaction():
            owner.execute(
                "SELECT FROM es.match_head WHERE match_id = %s FOR UPDATE", (stream.match_id,)
            )
            with pytest.raises(store.Unavailable, match="lock timeout"):
                stream.append(drawn())

        assert stream.append(drawn()).outcome == "ok"

    def test_waits_only_so_long_for_a_connection(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(settings, "XQMJ_POOL_SIZE", 1)
        with pool._open().connection():
            begun_s = time.monotonic()

            with pytest.raises(store.Unavailable):
                store.now()

        assert 1.2 < time.monotonic() - begun_s < HUNG_S

    def test_goes_on_when_its_sessions_are_ended(self, superuser: psycopg.Connection) -> None:
        stream = begun()
        for _ in range(3):
            for pid in backends(superuser):
                superuser.execute("SELECT pg_terminate_backend(%s)", (pid,))

            assert stream.append(drawn()).outcome == "ok"

    def test_knows_its_own_append_when_the_answer_was_lost(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stream = begun()
        lose_answers(monkeypatch, 1)

        done = stream.append(drawn())

        assert done == Appended("ok", 2)
        found = store.load(stream.match_id)
        assert found is not None
        assert found.rows == tuple(stream.rows)

    def test_does_not_take_another_append_for_its_own(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stream = begun()
        mine, other = (stream.next_rows((drawn(actor=seat),)) for seat in (0, 1))
        stream.write(other)
        lose_answers(monkeypatch, 1)

        assert stream.write(mine) == Appended("stale", 2)

    def test_makes_one_match_when_the_answer_was_lost(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.now()
        lose_answers(monkeypatch, 1)

        stream = begun(named=key())

        assert len(store.my_matches(stream.creator, limit=9)) == 1

    def test_gives_up_on_a_server_that_falls_silent(
        self, superuser: psycopg.Connection, servers: Servers
    ) -> None:
        store.now()
        stopped = backends(superuser)
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        begun_s = time.monotonic()
        try:
            with pytest.raises(store.Unavailable):
                store.now()
        finally:
            for pid in stopped:
                os.kill(pid, signal.SIGCONT)

        assert time.monotonic() - begun_s < HUNG_S
        assert servers.database
        assert store.load(new_match_id()) is None

    def test_is_not_shared_with_a_forked_child(self) -> None:
        # In a program of its own: a fork of the tests' many threads would be another matter.
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", FORKS],
            env={**os.environ, "DJANGO_SETTINGS_MODULE": "xqmj_site.settings.test"}
            | {"DATABASE_URL": settings.DATABASE_URL, "XQMJ_POOL_SIZE": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == ["child", "parent"]


SLEEP = ("SELECT pg_sleep(0.3)", ())
"""Keeps a connection busy, so that the pool opens another one."""

FORKS = """
import os, django
django.setup()
from matches.eventstore import pool, store

def session():
    return pool.run("SELECT pg_backend_pid()", ()).rows[0][0]

mine = session()
child = os.fork()
if child == 0:
    print("child" if session() != mine else "shared", flush=True)
    pool.close()
    os._exit(0)
os.waitpid(child, 0)
print("parent" if session() == mine else "lost")
pool.close()
"""


def lose_answers(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Let the next statements run, and their connections break before the answer is read."""
    left = [times]
    whole = pool.BoundedConnection.ask

    def ask(connection: Any, *args: Any) -> Any:
        rows = whole(connection, *args)
        if left[0]:
            left[0] -= 1
            connection.pgconn.finish()
            raise psycopg.OperationalError("the connection is lost")
        return rows

    monkeypatch.setattr(pool.BoundedConnection, "ask", ask)


@pytest.fixture(scope="class")
def own_server() -> Iterator[PostgresServer]:
    """A migrated PostgreSQL that only these tests use, at which the store's pool points."""
    # Not in pytest's folder: each run of pytest shuts it again to other users, and under root
    # PostgreSQL is one.
    folder = Path(tempfile.mkdtemp(prefix="xqmj-pool-"))
    folder.chmod(0o711)
    server = PostgresServer(folder / "postgres", keys=keyring.generate())
    server.initialise(sync=False)
    server.start()
    support.migrate(server, "own")
    address, settings.DATABASE_URL = settings.DATABASE_URL, server.url("app", "own")
    pool.close()
    yield server
    pool.close()
    settings.DATABASE_URL = address
    server.stop()
    server.remove()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.fault
class TestRestart:
    def test_is_survived_without_an_error(self, own_server: PostgresServer) -> None:
        stream = begun()
        sleepers = [threading.Thread(target=pool.run, args=SLEEP) for _ in range(4)]
        for sleeper in sleepers:
            sleeper.start()
        for sleeper in sleepers:
            sleeper.join()

        for stop in (own_server.stop, own_server.kill):
            stop()
            own_server.start()

            assert stream.append(drawn()).outcome == "ok"
        found = store.load(stream.match_id)
        assert found is not None
        assert found.rows == tuple(stream.rows)

    def test_is_unavailable_meanwhile_and_soon_back(self, own_server: PostgresServer) -> None:
        stream = begun()
        own_server.kill()
        for _ in range(3):
            begun_s = time.monotonic()
            with pytest.raises(store.Unavailable):
                stream.append(drawn())
            assert time.monotonic() - begun_s < HUNG_S

        own_server.start()
        begun_s = time.monotonic()
        while True:
            try:
                done = stream.append(drawn())
                break
            except store.Unavailable:
                assert time.monotonic() - begun_s < HUNG_S

        assert done.outcome == "ok"

    def test_loses_nothing_that_was_acknowledged(self, own_server: PostgresServer) -> None:
        writers = [Writer() for _ in range(4)]
        for writer in writers:
            writer.start()
        for _ in range(2):
            wait_for_more(writers)
            own_server.kill()
            time.sleep(0.2)
            own_server.start()
        wait_for_more(writers)
        for writer in writers:
            writer.stop()

        for writer in writers:
            found = store.load(writer.stream.match_id)
            assert found is not None
            assert len(writer.acknowledged) >= 3 * MORE
            assert {row.hash for row in found.rows} >= set(writer.acknowledged)
            assert [row.seq for row in found.rows] == list(range(1, found.head.version + 1))


MORE = 5


def wait_for_more(writers: Sequence[Writer]) -> None:
    """Until each has been told that some more is written."""
    wanted = [len(writer.acknowledged) + MORE for writer in writers]
    end_s = time.monotonic() + HUNG_S
    for writer, number in zip(writers, wanted, strict=True):
        while len(writer.acknowledged) < number:
            assert writer.is_alive()
            assert time.monotonic() < end_s
            time.sleep(0.01)


class Writer(threading.Thread):
    """Appends as long as it may, and remembers what it was told is written."""

    def __init__(self) -> None:
        super().__init__()
        self.stream = begun()
        self.acknowledged: list[bytes] = []
        self._stopped = threading.Event()

    def run(self) -> None:
        """Append, and after an outage go on from what the log says."""
        while not self._stopped.is_set():
            try:
                if self.stream.append(drawn(), named=key()).outcome == "ok":
                    self.acknowledged.append(self.stream.head_hash)
                else:
                    self.resume()
            except store.Unavailable:
                time.sleep(0.05)

    def resume(self) -> None:
        """Take over what was written although nobody said so."""
        found = store.load(self.stream.match_id)
        assert found is not None
        self.stream.rows = list(found.rows)

    def stop(self) -> None:
        """Let it finish what it does."""
        self._stopped.set()
        self.join()
