"""What is due: heads whose table has something to do, by the database clock."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import psycopg
import pytest

from matches.domain.clock import Due
from matches.eventstore import store
from matches.eventstore.rows import FINISHED, Summary
from tests.integration.eventstore.streams import Stream, begun, drawn

LONG_AGO_MS = 1_000_000_000_000
"""Before every other test's dues, so that these come first."""


@pytest.fixture(autouse=True)
def streams() -> Iterator[list[Stream]]:
    """Streams that are made due; all end after the test, so that no other test meets them."""
    store.beat()
    made: list[Stream] = []
    yield made
    for stream in made:
        stream.append(drawn(), status=FINISHED, summary=Summary("flag", None, (0, 0)))


def found(*exclude: UUID, limit: int = 100) -> list[UUID]:
    """The matches that are due, longest due first."""
    return [match_id for match_id, _ in store.due(limit, exclude).matches]


class TestDue:
    def test_is_longest_due_first_and_no_more_than_asked_for(self, streams: list[Stream]) -> None:
        streams += [begun(due=Due(LONG_AGO_MS + shift, deadline=False)) for shift in (2, 0, 1)]

        assert found(limit=2) == [streams[1].match_id, streams[2].match_id]
        assert found(limit=3) == [streams[1].match_id, streams[2].match_id, streams[0].match_id]

    def test_says_since_when_and_what_the_clock_is(self, streams: list[Stream]) -> None:
        streams.append(begun(due=Due(LONG_AGO_MS, deadline=False)))

        due = store.due(1)

        assert due.matches == ((streams[0].match_id, LONG_AGO_MS),)
        assert abs(due.now_ms - store.now()) < 60_000

    def test_leaves_out_what_is_excluded(self, streams: list[Stream]) -> None:
        streams.append(begun(due=Due(LONG_AGO_MS, deadline=False)))

        assert streams[0].match_id not in found(streams[0].match_id)

    def test_leaves_out_what_comes_later(self, streams: list[Stream]) -> None:
        streams.append(begun(due=Due(store.now() + 60_000, deadline=False)))

        assert streams[0].match_id not in found()

    def test_leaves_out_what_has_ended(self) -> None:
        stream = begun(due=Due(LONG_AGO_MS, deadline=False))
        stream.append(drawn(), status=FINISHED, summary=Summary("flag", None, (0, 0)))

        assert stream.match_id not in found()

    def test_gives_a_deadline_its_grace(self, streams: list[Stream]) -> None:
        now_ms = store.now()
        streams.append(begun(due=Due(now_ms - 10, deadline=True)))
        streams.append(begun(due=Due(now_ms - 10, deadline=False)))
        store.beat()

        due = found()

        assert streams[0].match_id not in due
        assert streams[1].match_id in due

    def test_lets_a_deadline_wait_for_the_service(
        self, streams: list[Stream], superuser: psycopg.Connection
    ) -> None:
        now_ms = store.now()
        streams.append(begun(due=Due(now_ms - 800, deadline=True)))
        streams.append(begun(due=Due(now_ms - 800, deadline=False)))
        superuser.execute("UPDATE es.heartbeat SET alive_ms = %s", (now_ms - 801,))
        before = found()
        superuser.execute("UPDATE es.heartbeat SET alive_ms = %s", (now_ms - 800,))
        after = found()
        store.beat()

        assert streams[0].match_id not in before
        assert streams[1].match_id in before
        assert streams[0].match_id in after

    def test_skips_what_is_being_written(
        self, streams: list[Stream], owner: psycopg.Connection
    ) -> None:
        streams.append(begun(due=Due(LONG_AGO_MS, deadline=False)))
        with owner.transaction():
            owner.execute(
                "SELECT FROM es.match_head WHERE match_id = %s FOR UPDATE",
                (streams[0].match_id,),
            )
            during = found()

        assert streams[0].match_id not in during
        assert streams[0].match_id in found()

    def test_reads_the_index_alone(self, owner: psycopg.Connection) -> None:
        owner.execute("SET enable_seqscan = off")
        plan = owner.execute(
            "EXPLAIN SELECT match_id FROM es.match_head WHERE status = 1 AND due_at_ms <= 5"
            " ORDER BY due_at_ms LIMIT 10"
        ).fetchall()

        assert "match_head_due" in str(plan)
