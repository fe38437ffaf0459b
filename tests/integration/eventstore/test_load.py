"""Loading: everything of one match and one instant, in one trip."""

from __future__ import annotations

import threading
import time
from typing import Any
from uuid import UUID

import psycopg

from matches.eventstore import hashing, store
from matches.eventstore.ids import new_match_id
from matches.eventstore.rows import FINISHED, Loaded, Summary
from tests.integration.eventstore.streams import BEGIN_MS, begun, drawn


def loaded(match_id: UUID, after: int = 0) -> Loaded:
    """What one load brings; the match must be there."""
    found = store.load(match_id, after_version=after)
    assert found is not None
    return found


class TestLoad:
    def test_finds_no_match_that_is_not(self) -> None:
        assert store.load(new_match_id()) is None

    def test_brings_the_rows_after_a_version(self) -> None:
        stream = begun()
        stream.append(drawn(BEGIN_MS + 1), drawn(BEGIN_MS + 2))

        assert loaded(stream.match_id, 2).rows == (stream.rows[2],)
        assert loaded(stream.match_id, 3).rows == ()

    def test_brings_the_hash_at_that_version(self) -> None:
        stream = begun()
        stream.append(drawn(), drawn())

        assert loaded(stream.match_id, 0).hash_at == hashing.GENESIS
        assert loaded(stream.match_id, 2).hash_at == stream.rows[1].hash
        assert loaded(stream.match_id, 3).hash_at == stream.rows[2].hash

    def test_has_no_hash_where_the_caller_is_ahead_of_the_log(self) -> None:
        stream = begun()

        found = loaded(stream.match_id, 5)

        assert found.hash_at is None
        assert found.rows == ()
        assert found.head.version == 1

    def test_reads_the_clock_in_milliseconds(self) -> None:
        stream = begun()
        before_ms = time.time_ns() // 1_000_000

        now_ms = loaded(stream.match_id).now_ms

        assert before_ms <= now_ms <= time.time_ns() // 1_000_000
        assert before_ms <= store.now() <= time.time_ns() // 1_000_000

    def test_brings_head_and_rows_of_one_instant(self) -> None:
        stream = begun()
        stop = threading.Event()

        def write() -> None:
            while not stop.is_set():
                stream.append(drawn(), drawn())

        writer = threading.Thread(target=write)
        writer.start()
        try:
            founds = [loaded(stream.match_id) for _ in range(200)]
        finally:
            stop.set()
            writer.join()

        assert founds[-1].head.version > founds[0].head.version
        for found in founds:
            assert len(found.rows) == found.head.version
            assert found.rows[-1].hash == found.head.head_hash

    def test_is_one_statement_of_a_reader(self, app: psycopg.Connection) -> None:
        stream = begun()
        app.execute("SET default_transaction_read_only = on")

        found = app.execute(
            "SELECT version FROM es.load_match(%s, 0)", (stream.match_id,)
        ).fetchone()

        assert found == (1,)


class TestGaps:
    def gap(self, owner: psycopg.Connection, from_ms: int, until_ms: int) -> None:
        """Record that the service was away."""
        owner.execute(
            "INSERT INTO es.service_gap (from_ms, until_ms) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            (from_ms, until_ms),
        )

    def test_come_from_the_newest_event_on(self, owner: psycopg.Connection) -> None:
        # An hour that no other test uses.
        base_ms = BEGIN_MS + 10**12
        for shift in (10, 20, 30):
            self.gap(owner, base_ms + shift, base_ms + shift + 5)
        stream = begun(at_ms=base_ms)
        stream.append(drawn(base_ms + 25))

        gaps = [gap for gap in loaded(stream.match_id).gaps if gap.from_ms >= base_ms]

        assert [(gap.from_ms - base_ms, gap.until_ms - base_ms) for gap in gaps] == [(30, 35)]

    def test_come_in_order(self, owner: psycopg.Connection) -> None:
        base_ms = BEGIN_MS + 2 * 10**12
        for shift in (30, 10, 20):
            self.gap(owner, base_ms + shift, base_ms + shift + 5)
        stream = begun(at_ms=base_ms)

        found: Any = loaded(stream.match_id).gaps

        assert [gap.from_ms - base_ms for gap in found] == [10, 20, 30]

    def test_do_not_matter_to_a_match_that_is_over(self, owner: psycopg.Connection) -> None:
        base_ms = BEGIN_MS + 3 * 10**12
        self.gap(owner, base_ms + 10, base_ms + 15)
        stream = begun(at_ms=base_ms)
        stream.append(drawn(base_ms), status=FINISHED, summary=Summary("flag", 0, (0, 0)))

        assert loaded(stream.match_id).gaps == ()
