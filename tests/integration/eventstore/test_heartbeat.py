"""The heartbeat: late beats are recorded as gaps, for ever."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from matches.eventstore import store
from tests.integration.eventstore.streams import begun


@pytest.fixture(autouse=True)
def _beating() -> Iterator[None]:
    store.beat()
    yield
    store.beat()


def rewind(superuser: psycopg.Connection, by_ms: int) -> int:
    """Make the newest beat look so much older; gives its instant."""
    row = superuser.execute(
        "UPDATE es.heartbeat SET alive_ms = es.now_ms() - %s RETURNING alive_ms", (by_ms,)
    ).fetchone()
    assert row is not None
    return int(row[0])


def gaps_from(connection: psycopg.Connection, from_ms: int) -> list[tuple[int, int]]:
    """The gaps that begin at an instant; on a busy machine tests may leave others near it."""
    return connection.execute(
        "SELECT from_ms, until_ms FROM es.service_gap WHERE from_ms = %s", (from_ms,)
    ).fetchall()


class TestBeat:
    def test_says_up_to_when_the_service_is_alive(self) -> None:
        stream = begun()

        beat = store.beat()

        found = store.load(stream.match_id)
        assert found is not None
        assert found.alive_ms == beat.now_ms == beat.alive_ms
        assert found.now_ms >= beat.now_ms

    def test_leaves_no_gap_while_it_comes_in_time(self, superuser: psycopg.Connection) -> None:
        alive_ms = rewind(superuser, 700)

        store.beat()

        assert gaps_from(superuser, alive_ms) == []

    def test_records_the_gap_when_it_is_late(self, superuser: psycopg.Connection) -> None:
        alive_ms = rewind(superuser, 60_000)

        beat = store.beat()

        assert gaps_from(superuser, alive_ms) == [(alive_ms, beat.now_ms)]

    def test_records_one_gap_however_many_come_back(self, superuser: psycopg.Connection) -> None:
        alive_ms = rewind(superuser, 5_000)
        threads = [threading.Thread(target=store.beat) for _ in range(8)]

        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(gaps_from(superuser, alive_ms)) == 1

    def test_never_goes_back(self, superuser: psycopg.Connection) -> None:
        ahead_ms = rewind(superuser, -60_000)

        beat = store.beat()

        assert beat.now_ms == ahead_ms
        rewind(superuser, 0)

    def test_is_shown_with_its_gap_at_once(self, superuser: psycopg.Connection) -> None:
        stream = begun(at_ms=store.now())
        alive_ms = rewind(superuser, 3_000)

        beat = store.beat()

        found = store.load(stream.match_id)
        assert found is not None
        assert (alive_ms, beat.now_ms) in [(gap.from_ms, gap.until_ms) for gap in found.gaps]

    @pytest.mark.parametrize("table", ["match_head", "match_event", "match_seat"])
    def test_fails_at_once_while_a_lock_keeps_appends_out_and_their_time_is_a_gap(
        self, owner: psycopg.Connection, table: str
    ) -> None:
        alive_ms = store.beat().now_ms

        with owner.transaction():
            # What CREATE INDEX takes.
            owner.execute(f"LOCK TABLE es.{table} IN SHARE MODE")
            begun_s = time.monotonic()
            with pytest.raises(store.Unavailable):
                store.beat()
            spent_s = time.monotonic() - begun_s
            time.sleep(1.1)
        beat = store.beat()

        assert spent_s < 1
        assert gaps_from(owner, alive_ms) == [(alive_ms, beat.now_ms)]

    def test_goes_on_beside_what_keeps_nobody_out(self, owner: psycopg.Connection) -> None:
        match_id = begun().match_id

        with owner.transaction():
            # What CREATE INDEX CONCURRENTLY and a vacuum take, and a match that is held up alone.
            owner.execute("LOCK TABLE es.match_event IN SHARE UPDATE EXCLUSIVE MODE")
            owner.execute("SELECT FROM es.match_head WHERE match_id = %s FOR UPDATE", (match_id,))
            before_ms = store.now()

            assert store.beat().now_ms >= before_ms

    def test_commits_a_gap_durably(self, app: psycopg.Connection) -> None:
        with app.transaction():
            app.execute("SELECT es.beat(1000)")
            on_time = app.execute("SHOW synchronous_commit").fetchone()
        # A gap is at least a millisecond.
        app.execute("SELECT pg_sleep(0.002)")
        with app.transaction():
            app.execute("SELECT es.beat(-1)")
            late = app.execute("SHOW synchronous_commit").fetchone()

        assert (on_time, late) == (("off",), ("on",))
        assert app.execute("SHOW synchronous_commit").fetchone() == ("on",)
