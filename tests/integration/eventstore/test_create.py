"""Creating: one match a request, however often it is made."""

from __future__ import annotations

import threading
from uuid import uuid4

from matches.domain.clock import Due
from matches.eventstore import store
from matches.eventstore.rows import LIVE, CommandKey, Created, Head
from tests.integration.eventstore.streams import BEGIN_MS, Stream, key


class TestCreate:
    def test_makes_head_rows_and_seats(self) -> None:
        stream = Stream()

        done = stream.create(due=Due(BEGIN_MS + 3_600_001, deadline=True))

        assert done == Created("ok", stream.match_id)
        found = store.load(stream.match_id)
        assert found is not None
        assert found.head == Head(
            match_id=stream.match_id,
            ruleset="xqmj-32-2p",
            rules_version=1,
            version=1,
            status=LIVE,
            due_at_ms=BEGIN_MS + 3_600_101,
            head_hash=stream.rows[0].hash,
        )
        assert found.rows == tuple(stream.rows)
        (listed,) = store.my_matches(stream.creator, limit=5)
        assert listed.players == ((0, stream.creator),)

    def test_gives_a_repeated_request_its_match(self) -> None:
        named = key()
        first, again = Stream(), Stream()
        again.creator = first.creator
        first.create(named=named)

        done = again.create(named=named)

        assert done == Created("replayed", first.match_id)
        assert store.load(again.match_id) is None

    def test_tells_another_request_under_the_same_name(self) -> None:
        named = key()
        first, other = Stream(), Stream()
        other.creator = first.creator
        first.create(named=named)

        done = other.create(named=CommandKey(named.command_id, named.fingerprint + 1))

        assert done == Created("key_reused", first.match_id)
        assert store.load(other.match_id) is None

    def test_keeps_the_names_of_two_players_apart(self) -> None:
        named = key()
        first, other = Stream(), Stream()

        assert first.create(named=named).outcome == "ok"
        assert other.create(named=named).outcome == "ok"

    def test_may_be_repeated_with_the_same_id(self) -> None:
        stream = Stream()
        stream.create()

        done = stream_again(stream).create()

        assert done == Created("ok", stream.match_id)
        found = store.load(stream.match_id)
        assert found is not None
        assert found.head.version == 1

    def test_makes_one_match_of_racing_requests(self) -> None:
        named, creator = key(), uuid4().hex
        streams = [Stream() for _ in range(8)]
        dones: list[Created] = []

        def create(stream: Stream) -> None:
            stream.creator = creator
            dones.append(stream.create(named=named))

        threads = [threading.Thread(target=create, args=(stream,)) for stream in streams]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert sorted(done.outcome for done in dones) == ["ok"] + ["replayed"] * 7
        assert len({done.match_id for done in dones}) == 1
        assert len(store.my_matches(creator, limit=10)) == 1


def stream_again(stream: Stream) -> Stream:
    """The same match as a caller knows it who has heard nothing."""
    again = Stream(stream.match_id)
    again.creator = stream.creator
    return again
