"""Reminders of the computer's turns, as the database keeps them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from uuid import UUID, uuid4

import psycopg
import pytest

from matches.domain.clock import Due
from matches.eventstore import store, turns
from matches.eventstore.rows import FINISHED, Summary
from matches.eventstore.turns import LEASE_MS, Turn
from tests.integration.eventstore.streams import Stream, begun, drawn
from tests.support.seated import at_once

LONG_AGO_MS = 1_000_000_000_000


@pytest.fixture(autouse=True)
def _empty(owner: psycopg.Connection) -> Iterator[None]:
    yield
    owner.execute("DELETE FROM matches_computer_turn")


def due(count: int = 1) -> list[UUID]:
    """Matches with a turn that is due, the longest due first."""
    made = [uuid4() for _ in range(count)]
    turns.note(Turn(match_id, 5, LONG_AGO_MS + shift) for shift, match_id in enumerate(made))
    return made


def row(connection: psycopg.Connection, match_id: UUID) -> tuple[int, int | None]:
    found = connection.execute(
        "SELECT version, due_ms FROM matches_computer_turn WHERE match_id = %s", (match_id,)
    ).fetchone()
    assert found is not None
    return found


class TestNote:
    def test_gives_way_to_a_newer_version_only(self, owner: psycopg.Connection) -> None:
        match_id = uuid4()
        found = []
        for version, due_ms in ((3, 1_000), (2, 2_000), (3, 3_000), (4, None)):
            turns.note([Turn(match_id, version, due_ms)])
            found.append(row(owner, match_id))

        assert found == [(3, 1_000), (3, 1_000), (3, 1_000), (4, None)]

    def test_of_one_match_twice_keeps_the_newest(self, owner: psycopg.Connection) -> None:
        match_id = uuid4()

        turns.note([Turn(match_id, 2, 7), Turn(match_id, 4, 9), Turn(match_id, 3, 8)])

        assert row(owner, match_id) == (4, 9)

    def test_by_many_at_once_never_fails(self, owner: psycopg.Connection) -> None:
        ids = [uuid4() for _ in range(1_000)]

        def write(version: int) -> None:
            order = ids if version % 2 else ids[::-1]
            turns.note(Turn(match_id, version, version) for match_id in order)

        results = at_once(*[lambda version=n: write(version) for n in range(1, 9)])

        assert results == [None] * 8
        assert {row(owner, match_id) for match_id in ids[::50]} == {(8, 8)}


class TestTake:
    def test_takes_the_longest_due_first_and_no_more_than_asked_for(self) -> None:
        first, second, third = due(3)

        assert turns.take(2).match_ids in ((first, second), (second, first))
        assert turns.take(2).match_ids == (third,)
        assert turns.take(2).match_ids == ()

    def test_leaves_what_is_not_due_and_says_when_it_will_be(self) -> None:
        later_ms = store.now() + 60_000
        turns.note([Turn(uuid4(), 1, later_ms), Turn(uuid4(), 1, None)])

        taken = turns.take(10)

        assert taken.match_ids == ()
        assert taken.next_due_ms == later_ms
        assert abs(taken.now_ms - store.now()) < 60_000

    def test_leaves_what_is_excluded(self) -> None:
        first, second = due(2)

        assert turns.take(10, [first]).match_ids == (second,)

    def test_gives_back_what_was_not_played(self, owner: psycopg.Connection) -> None:
        (match_id,) = due()

        taken = turns.take(10)

        assert row(owner, match_id) == (5, taken.now_ms + LEASE_MS)

    def test_by_many_at_once_gives_each_to_one(self) -> None:
        ids = due(40)

        results = at_once(*[lambda: turns.take(10).match_ids for _ in range(6)])

        taken = [match_id for one in results if isinstance(one, tuple) for match_id in one]
        assert sorted(taken) == sorted(ids)

    def test_does_not_wait_for_a_row_that_somebody_holds(self, owner: psycopg.Connection) -> None:
        held, free = due(2)
        with owner.transaction():
            owner.execute(
                "SELECT FROM matches_computer_turn WHERE match_id = %s FOR UPDATE", (held,)
            )
            taken: list[tuple[UUID, ...]] = []
            thread = threading.Thread(target=lambda: taken.append(turns.take(10).match_ids))
            thread.start()
            thread.join(2)

            assert taken == [(free,)]


class TestLost:
    @pytest.fixture
    def live(self) -> Iterator[Stream]:
        """A match that lives, of two players."""
        store.beat()
        stream = begun(due=Due(store.now() + 60_000, deadline=False))
        yield stream
        if store.load(stream.match_id).head.status == 1:  # type: ignore[union-attr]
            end(stream)

    def lost(self, stream: Stream, *exclude: UUID) -> bool:
        return stream.match_id in turns.lost([stream.creator], 100, exclude)

    def test_is_a_live_match_without_a_row(self, live: Stream) -> None:
        assert self.lost(live)
        assert not self.lost(live, live.match_id)
        assert live.match_id not in turns.lost([uuid4().hex], 100)

    def test_is_a_live_match_whose_row_is_old(self, live: Stream) -> None:
        turns.note([Turn(live.match_id, live.version, None)])
        assert not self.lost(live)

        live.append(drawn(), due=Due(store.now() + 60_000, deadline=False))

        assert self.lost(live)

    def test_is_no_match_that_is_over(self, live: Stream) -> None:
        end(live)

        assert not self.lost(live)


class TestForgetting:
    def test_takes_the_rows_of_matches_that_are_over(self, owner: psycopg.Connection) -> None:
        over, live = begun(), begun(due=Due(store.now() + 60_000, deadline=False))
        turns.note(Turn(one.match_id, one.version, None) for one in (over, live))
        end(over)

        assert turns.forget_ended() == 1

        assert row(owner, live.match_id) == (live.version, None)
        end(live)


def end(stream: Stream) -> None:
    stream.append(drawn(), status=FINISHED, summary=Summary("flag", None, (0, 0)))
