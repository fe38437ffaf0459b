"""Appending: one winner, no gaps, each command once."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from uuid import UUID

import psycopg
import pytest

from matches.domain.clock import Due
from matches.eventstore import hashing, store
from matches.eventstore.ids import new_match_id
from matches.eventstore.rows import FINISHED, LIVE, Appended, Summary
from tests.integration.eventstore.streams import BEGIN_MS, begun, drawn, key

RACERS = 16


def race(*runners: Callable[[], Any]) -> list[Any]:
    """What each runner gives, all of them let go at one moment."""
    barrier = threading.Barrier(len(runners))
    results: list[Any] = [None] * len(runners)

    def run(index: int, runner: Callable[[], Any]) -> None:
        barrier.wait()
        results[index] = runner()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(runners)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def loaded(match_id: UUID, after: int = 0) -> Any:
    """What one load brings; the match must be there."""
    found = store.load(match_id, after_version=after)
    assert found is not None
    return found


class TestAppend:
    def test_adds_rows_and_moves_the_head(self) -> None:
        stream = begun()

        done = stream.append(
            drawn(BEGIN_MS + 5), drawn(BEGIN_MS + 6, actor=1), due=Due(BEGIN_MS + 99, False)
        )

        assert done == Appended("ok", 3)
        found = loaded(stream.match_id)
        assert found.rows == tuple(stream.rows)
        assert found.head.version == 3
        assert found.head.head_hash == stream.rows[-1].hash
        assert found.head.status == LIVE
        assert found.head.due_at_ms == BEGIN_MS + 99

    def test_gives_a_deadline_its_grace(self) -> None:
        stream = begun()

        stream.append(drawn(), due=Due(BEGIN_MS + 1_000, deadline=True))

        assert loaded(stream.match_id).head.due_at_ms == BEGIN_MS + 1_100

    def test_keeps_what_a_command_was(self) -> None:
        stream = begun()
        named = key(fingerprint=-(2**63))

        stream.append(drawn(actor=0), drawn(), named=named)

        first, second = loaded(stream.match_id, 1).rows
        assert (first.command_id, first.fingerprint, first.effects) == (
            named.command_id,
            -(2**63),
            2,
        )
        assert (second.command_id, second.fingerprint, second.effects) == (None, None, None)

    def test_refuses_an_old_version(self) -> None:
        stream = begun()
        stream.append(drawn())

        done = stream.write(stream.next_rows((drawn(),)), expected_version=1)

        assert done == Appended("stale", 2)
        assert loaded(stream.match_id).head.version == 2

    def test_refuses_a_version_that_is_not_yet(self) -> None:
        stream = begun()

        done = stream.write(stream.next_rows((drawn(),)), expected_version=2)

        assert done == Appended("stale", 1)

    def test_refuses_another_history(self) -> None:
        stream = begun()

        done = stream.write(stream.next_rows((drawn(),)), prev_hash=bytes(31) + b"\1")

        assert done == Appended("stale", 1)
        assert loaded(stream.match_id).head.version == 1

    def test_refuses_a_match_that_has_ended(self) -> None:
        stream = begun()
        stream.append(drawn(), status=FINISHED, summary=Summary("flag", 1, (0, 3)))

        assert stream.append(drawn()) == Appended("closed", 2)

    def test_refuses_a_match_that_is_not(self) -> None:
        stream = begun()

        done = stream.write(stream.next_rows((drawn(),)), match_id=new_match_id())

        assert done == Appended("unknown", 0)

    def test_writes_all_or_nothing(self) -> None:
        stream = begun()
        rows = stream.next_rows((drawn(), drawn()))
        broken = (rows[0], type(rows[1])(**{**_fields(rows[1]), "kind": "No Kind"}))

        with pytest.raises(psycopg.errors.CheckViolation):
            stream.write(broken)

        assert loaded(stream.match_id).head.version == 1
        assert loaded(stream.match_id).rows == tuple(stream.rows)

    def test_keeps_the_very_bytes_of_a_payload(self, owner: psycopg.Connection) -> None:
        stream = begun()
        (row,) = stream.next_rows((drawn(),))
        odd = type(row)(**{**_fields(row), "payload": b'{"b":1,"a":"\xe8\xbb\x8a \\n"}'})
        (odd,) = hashing.chain(stream.head_hash, stream.match_id, (odd,))

        stream.write((odd,))

        assert loaded(stream.match_id, 1).rows == (odd,)
        kept = owner.execute(
            "SELECT payload::text FROM es.match_event WHERE match_id = %s AND seq = 2",
            (stream.match_id,),
        ).fetchone()
        assert kept == ('{"b":1,"a":"車 \\n"}',)


def _fields(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__struct_fields__}


class TestReplay:
    def test_knows_a_command_under_any_version(self) -> None:
        stream = begun()
        named = key()
        stream.append(drawn(actor=0), named=named)
        stream.append(drawn(), drawn())

        again = stream.write(stream.next_rows((drawn(actor=0),), named=named))
        early = stream.write(stream.next_rows((drawn(),), named=named), expected_version=1)

        assert again == Appended("replayed", 2)
        assert early == Appended("replayed", 2)
        assert loaded(stream.match_id).head.version == 4

    def test_knows_a_command_of_a_match_that_has_ended(self) -> None:
        stream = begun()
        named = key()
        stream.append(
            drawn(actor=0), named=named, status=FINISHED, summary=Summary("score", 0, (4, 1))
        )

        again = stream.write(stream.next_rows((drawn(actor=0),), named=named))

        assert again == Appended("replayed", 2)

    def test_lets_one_of_two_racing_retries_write(self) -> None:
        for _ in range(20):
            stream = begun()
            named = key()
            rows = stream.next_rows((drawn(actor=0),), named=named)

            outcomes = race(*[partial(stream.write, rows)] * 2)

            assert sorted(outcomes, key=lambda done: str(done.outcome)) == [
                Appended("ok", 2),
                Appended("replayed", 2),
            ]

    def test_keeps_commands_of_two_matches_apart(self) -> None:
        one, other = begun(), begun()
        named = key()

        assert one.append(drawn(), named=named).outcome == "ok"
        assert other.append(drawn(), named=named).outcome == "ok"


class TestRace:
    def test_has_one_winner_and_leaves_no_gap(self) -> None:
        stream = begun()
        for round_no in range(50):
            drafts = [
                stream.next_rows((drawn(actor=racer % 2),), named=key()) for racer in range(RACERS)
            ]
            write = [lambda rows=rows: (rows, stream.write(rows)) for rows in drafts]

            results = race(*write)

            winners = [rows for rows, done in results if done.outcome == "ok"]
            assert Counter(done.outcome for _, done in results) == {"ok": 1, "stale": RACERS - 1}
            assert {done.version for _, done in results} == {round_no + 2}
            stream.rows += winners[0]
        rows: Sequence[Any] = loaded(stream.match_id).rows
        assert [row.seq for row in rows] == list(range(1, 52))
        assert hashing.first_break(hashing.GENESIS, stream.match_id, rows) is None

    def test_lets_writers_of_other_matches_pass(self, owner: psycopg.Connection) -> None:
        held, free = begun(), begun()
        with owner.transaction():
            owner.execute(
                "SELECT FROM es.match_head WHERE match_id = %s FOR UPDATE", (held.match_id,)
            )

            assert free.append(drawn()).outcome == "ok"


class TestHashChain:
    def test_holds_over_what_was_stored(self) -> None:
        stream = begun()
        for index in range(5):
            stream.append(drawn(BEGIN_MS + index, actor=index % 2), named=key())

        rows = loaded(stream.match_id).rows

        assert hashing.first_break(hashing.GENESIS, stream.match_id, rows) is None
        assert loaded(stream.match_id).head.head_hash == rows[-1].hash

    def test_shows_what_got_past_rights_and_triggers(self, superuser: psycopg.Connection) -> None:
        stream = begun()
        for index in range(3):
            stream.append(drawn(BEGIN_MS + index, actor=0))
        with superuser.transaction():
            superuser.execute("ALTER TABLE es.match_event DISABLE TRIGGER append_only_row")
            superuser.execute(
                'UPDATE es.match_event SET payload = \'{"drawn":true, "tile":"rC"}\''
                " WHERE match_id = %s AND seq = 3",
                (stream.match_id,),
            )
            superuser.execute("ALTER TABLE es.match_event ENABLE ALWAYS TRIGGER append_only_row")

        rows = loaded(stream.match_id).rows

        assert hashing.first_break(hashing.GENESIS, stream.match_id, rows) == 3
