"""One live rated match a player: whatever is created or joined, and however many at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from uuid import uuid4

import psycopg
import pytest

from matches.eventstore.rows import ABORTED, FINISHED, Appended, Created, Summary
from tests.integration.eventstore.streams import Stream, begun, drawn, key
from tests.support.servers import ROOT

RACERS = 16
WAITERS = """
SELECT FROM pg_stat_activity
 WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ~ 'create_match'
"""
DRAW = Summary("score", None, (0, 0))


def rated(*players: str | None) -> Stream:
    """A rated match that is not made yet, of these players or of a new one's."""
    stream = Stream()
    if players:
        assert players[0] is not None
        stream.creator = players[0]
    return stream


def ended(stream: Stream, *, status: int = FINISHED) -> None:
    """Let a match end."""
    assert stream.append(drawn(), status=status, summary=DRAW).outcome == "ok"


def seats(app: psycopg.Connection, *players: str) -> list[str]:
    """The matches (ids in hex) that hold the players."""
    rows = app.execute(
        "SELECT match_id FROM es.rated_seat WHERE player = ANY (%s::uuid[])", (list(players),)
    ).fetchall()
    return [match_id.hex for (match_id,) in rows]


def racing(*calls: Callable[[], str]) -> list[str]:
    """What calls answer that are made at the same time, sorted."""
    barrier, found = threading.Barrier(len(calls)), list[str]()

    def run(call: Callable[[], str]) -> None:
        barrier.wait()
        found.append(call())

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(found)


class TestCreating:
    def test_a_second_one_is_busy_and_makes_nothing(self, app: psycopg.Connection) -> None:
        first = begun(rated=True)
        second, named = rated(first.creator), key()

        done = second.create(rated=True, named=named)

        assert done == Created("busy", second.match_id)
        assert seats(app, first.creator) == [first.match_id.hex]
        for table in ("match_head", "match_event", "match_seat", "match_creation"):
            count = app.execute(
                f"SELECT count(*) FROM es.{table} WHERE match_id = %s".encode(), (second.match_id,)
            )
            assert count.fetchone() == (0,), table

    def test_a_casual_one_is_free(self, app: psycopg.Connection) -> None:
        first = begun(rated=True)

        assert rated(first.creator).create().outcome == "ok"
        assert seats(app, first.creator) == [first.match_id.hex]

    def test_holds_both_where_both_sit_at_once(self, app: psycopg.Connection) -> None:
        ana, ben = uuid4().hex, uuid4().hex
        pair = begun(rated=True, players=(ana, ben))

        assert rated(ben).create(rated=True).outcome == "busy"
        assert seats(app, ana, ben) == [pair.match_id.hex] * 2

    def test_leaves_the_free_one_free_where_the_other_is_busy(
        self, app: psycopg.Connection
    ) -> None:
        busy, free = begun(rated=True).creator, uuid4().hex
        pair = rated(free)

        assert pair.create(rated=True, players=(free, busy)).outcome == "busy"
        assert seats(app, free) == []

    def test_repeated_finds_what_it_made(self) -> None:
        named = key()
        first = rated()
        first.create(rated=True, named=named)
        again = rated(first.creator)

        assert again.create(rated=True, named=named) == Created("replayed", first.match_id)

    def test_repeated_after_the_end_takes_no_seat(self, app: psycopg.Connection) -> None:
        named = key()
        first = rated()
        first.create(rated=True, named=named)
        ended(first)
        again = rated(first.creator)

        assert again.create(rated=True, named=named).outcome == "replayed"
        assert seats(app, first.creator) == []


class TestJoining:
    def test_is_busy_for_whoever_plays_and_changes_nothing(self, app: psycopg.Connection) -> None:
        player = begun(rated=True).creator
        table = begun(rated=True)

        assert table.taken(1, player) == Appended("busy", 0)
        assert table.taken(1, uuid4().hex).outcome == "ok"
        assert app.execute(
            "SELECT count(*) FROM es.match_seat WHERE match_id = %s", (table.match_id,)
        ).fetchone() == (2,)

    def test_a_casual_one_is_free(self) -> None:
        player = begun(rated=True).creator

        assert begun().taken(1, player).outcome == "ok"

    def test_that_comes_too_late_holds_nobody(self, app: psycopg.Connection) -> None:
        table, late = begun(rated=True), uuid4().hex
        stale = Stream(table.match_id)
        stale.rows = list(table.rows)
        table.taken(1, uuid4().hex)

        assert stale.taken(1, late).outcome == "stale"
        assert seats(app, late) == []

    def test_repeated_finds_its_own_seat(self) -> None:
        table, player, named = begun(rated=True), uuid4().hex, key()
        again = Stream(table.match_id)
        again.rows = list(table.rows)
        table.append(drawn(actor=1), named=named, taken=((1, player),))

        assert again.append(drawn(actor=1), named=named, taken=((1, player),)).outcome == "replayed"


class TestTheEnd:
    @pytest.mark.parametrize("status", [FINISHED, ABORTED])
    def test_frees_both(self, app: psycopg.Connection, status: int) -> None:
        table, ben = begun(rated=True), uuid4().hex
        table.taken(1, ben)

        ended(table, status=status)

        assert seats(app, table.creator, ben) == []
        assert rated(ben).create(rated=True).outcome == "ok"

    def test_of_another_match_frees_nobody(self, app: psycopg.Connection) -> None:
        table = begun(rated=True)
        casual = Stream()
        casual.creator = table.creator
        casual.create()

        ended(casual)

        assert seats(app, table.creator) == [table.match_id.hex]


class TestRacers:
    def test_of_one_player_create_or_join_one_match(self, app: psycopg.Connection) -> None:
        player = uuid4().hex
        tables = [begun(rated=True) for _ in range(RACERS // 2)]
        made = [rated(player) for _ in range(RACERS // 2)]

        outcomes = racing(
            *[lambda table=table: table.taken(1, player).outcome for table in tables],
            *[lambda one=one: one.create(rated=True, named=key()).outcome for one in made],
        )

        assert outcomes == ["busy"] * (RACERS - 1) + ["ok"]
        assert len(seats(app, player)) == 1

    def test_for_the_same_two_players_wait_for_each_other_in_one_order(self) -> None:
        for _ in range(10):
            pair = (uuid4().hex, uuid4().hex)
            made = [rated(pair[0]) for _ in range(RACERS)]

            outcomes = racing(
                *[
                    lambda one=one, seats=pair[:: (-1) ** turn]: (
                        one.create(rated=True, players=seats).outcome
                    )
                    for turn, one in enumerate(made)
                ]
            )

            assert outcomes == ["busy"] * (RACERS - 1) + ["ok"]

    def test_hold_nobody_while_they_wait_for_another(self, superuser: psycopg.Connection) -> None:
        low, high = sorted((uuid4().hex, uuid4().hex))
        take = "INSERT INTO es.rated_seat (player, match_id) VALUES (%s, gen_random_uuid())"
        holding = psycopg.connect(superuser.info.dsn, password=superuser.info.password)
        holding.execute(take, (low,))
        outcomes = list[str]()
        waiting = threading.Thread(
            target=lambda: outcomes.append(
                rated(high).create(rated=True, players=(high, low)).outcome
            )
        )
        waiting.start()
        while superuser.execute(WAITERS).fetchone() is None:
            assert waiting.is_alive()

        superuser.execute("SET lock_timeout = '1s'")
        superuser.execute(take, (high,))

        holding.rollback()
        holding.close()
        waiting.join()
        assert outcomes == ["busy"]

    def test_who_leave_and_come_never_sit_twice_or_stand(self, app: psycopg.Connection) -> None:
        player = uuid4().hex
        for _ in range(20):
            old, new = rated(player), rated(player)
            assert old.create(rated=True).outcome == "ok"

            def leave(stream: Stream = old) -> str:
                ended(stream)
                return "left"

            def come(stream: Stream = new) -> str:
                return stream.create(rated=True).outcome

            outcomes = racing(leave, come)

            assert outcomes in (["busy", "left"], ["left", "ok"])
            assert seats(app, player) == ([new.match_id.hex] if "ok" in outcomes else [])
            if "ok" in outcomes:
                ended(new)


class TestFilling:
    def test_seats_who_plays_already(
        self, app: psycopg.Connection, superuser: psycopg.Connection
    ) -> None:
        ana, ben = uuid4().hex, uuid4().hex
        pair, alone, over = (
            begun(rated=True, players=(ana, ben)),
            begun(rated=True),
            begun(rated=True),
        )
        ended(over)
        superuser.execute("DELETE FROM es.rated_seat")

        superuser.execute(
            (ROOT / "matches/eventstore/sql/0006_rated_seats_filled.sql").read_bytes()
        )

        assert seats(app, ana, ben) == [pair.match_id.hex] * 2
        assert seats(app, alone.creator) == [alone.match_id.hex]
        assert seats(app, over.creator, begun().creator) == []
