"""Lists: a player's matches, and finished matches in the order of commits."""

from __future__ import annotations

import time
from collections.abc import Sequence
from uuid import UUID, uuid4

import psycopg
import pytest

from matches.eventstore import store
from matches.eventstore.rows import ABORTED, FINISHED, LIVE, Finished, Listed, Summary
from tests.integration.eventstore.streams import BEGIN_MS, Stream, begun, drawn

WON = Summary("score", 1, (3, 8))


class TestMyMatches:
    def test_are_newest_first(self) -> None:
        player = uuid4().hex
        made = [begun(players=(player, None), at_ms=BEGIN_MS + at) for at in (1, 3, 2)]

        found = store.my_matches(player, limit=10)

        assert ids(found) == [made[1].match_id, made[2].match_id, made[0].match_id]

    def test_are_found_by_index(self, app: psycopg.Connection) -> None:
        page = (uuid4().hex, None, None, BEGIN_MS, uuid4(), 9)
        # So few rows as these any plan would bring at once.
        for way in ("seqscan", "bitmapscan", "sort"):
            app.execute(f"SET enable_{way} = off")

        rows = app.execute(f"EXPLAIN {store._MY_MATCHES}", (*page, *page, 9)).fetchall()

        plan = "\n".join(line for (line,) in rows)
        assert "Scan Backward using match_seat_player on" in plan
        assert "Scan Backward using match_event_invited on" in plan

    def test_go_on_after_a_cursor(self) -> None:
        player = uuid4().hex
        for at in (1, 2, 2, 2, 3):
            begun(players=(player, None), at_ms=BEGIN_MS + at)
        whole = store.my_matches(player, limit=10)

        pages: list[Listed] = []
        while len(pages) < 5:
            before = (pages[-1].created_at_ms, pages[-1].match_id) if pages else None
            pages += store.my_matches(player, before=before, limit=2)

        assert pages == whole

    def test_are_those_with_a_seat_of_the_player(self) -> None:
        ana, ben = uuid4().hex, uuid4().hex
        stream = begun(players=(ana, None))
        begun()
        stream.taken(1, ben)

        (listed,) = store.my_matches(ben, limit=10)

        assert listed.match_id == stream.match_id
        assert listed.players == ((0, ana), (1, ben))

    def test_may_be_of_one_status(self) -> None:
        player = uuid4().hex
        live, over = begun(players=(player, None)), begun(players=(player, None))
        over.append(drawn(), status=ABORTED, summary=Summary("aborted", None, (0, 0)))

        assert ids(store.my_matches(player, limit=10, status=LIVE)) == [live.match_id]
        assert ids(store.my_matches(player, limit=10, status=ABORTED)) == [over.match_id]
        assert store.my_matches(player, limit=10, status=FINISHED) == []

    def test_are_described_by_public_facts(self) -> None:
        player = uuid4().hex
        stream = begun(players=(player, None), rated=True)
        stream.append(drawn(BEGIN_MS + 9), status=FINISHED, summary=WON)

        assert store.my_matches(player, limit=10) == [
            Listed(
                match_id=stream.match_id,
                created_at_ms=BEGIN_MS,
                ruleset="xqmj-32-2p",
                rules_version=1,
                control="3+2",
                rated=True,
                status=FINISHED,
                players=((0, player),),
                ended_at_ms=BEGIN_MS + 9,
                summary=WON,
            )
        ]

    def test_do_not_show_a_hidden_event(self) -> None:
        player = uuid4().hex
        stream = begun(players=(player, None))
        before = store.my_matches(player, limit=10)

        stream.append(drawn(BEGIN_MS + 1))

        assert store.my_matches(player, limit=10) == before


class TestSeats:
    def test_are_taken_once(self) -> None:
        stream = begun()
        stream.taken(1, uuid4().hex)

        with pytest.raises(psycopg.errors.UniqueViolation):
            stream.taken(1, uuid4().hex)

    def test_are_two_players(self) -> None:
        stream = begun()

        with pytest.raises(psycopg.errors.UniqueViolation):
            stream.taken(1, stream.creator)


class TestFinishedRated:
    def cursor(self) -> tuple[int, UUID] | None:
        """After everything that has finished so far."""
        cursor: tuple[int, UUID] | None = None
        while page := store.finished_rated(cursor, 500):
            cursor = page[-1].cursor
        return cursor

    def test_come_in_the_order_of_commits(self) -> None:
        begin, streams = self.cursor(), [rated() for _ in range(3)]
        for index in (2, 0, 1):
            end(streams[index])

        found = below_horizon(begin, 3)

        assert finished_ids(found) == [streams[index].match_id for index in (2, 0, 1)]
        assert found[0].match.summary == WON

    def test_go_on_after_any_of_them(self) -> None:
        begin, streams = self.cursor(), [rated() for _ in range(3)]
        for stream in streams:
            end(stream)
        first = below_horizon(begin, 3)[0]

        assert store.finished_rated(begin, 1) == [first]
        assert finished_ids(store.finished_rated(first.cursor, 10)) == [
            stream.match_id for stream in streams[1:]
        ]

    def test_leave_out_aborted_and_live_matches(self) -> None:
        begin = self.cursor()
        rated()
        rated().append(drawn(), status=ABORTED, summary=Summary("aborted", None, (0, 0)))

        assert store.finished_rated(begin, 10) == []

    def test_leave_out_unrated_matches(self) -> None:
        begin, unrated = self.cursor(), begun()
        end(unrated)

        assert store.finished_rated(begin, 10) == []

    def test_never_skip_a_transaction_that_commits_late(self, owner: psycopg.Connection) -> None:
        begin, early, late = self.cursor(), rated(), rated()
        with owner.transaction():
            # It takes its place in the order, and then takes its time.
            owner.execute(
                "UPDATE es.match_head SET status = 2, due_at_ms = NULL, reason = 'flag',"
                " scores = '{0,0}', ended_at_ms = at_ms,"
                " ended_order = es.order_of(pg_current_xact_id())"
                " WHERE match_id = %s",
                (late.match_id,),
            )
            end(early)
            during = store.finished_rated(begin, 10)
        after = below_horizon(begin, 2)

        assert during == []
        assert finished_ids(after) == [late.match_id, early.match_id]

    def test_go_on_after_a_restore_into_a_cluster_that_counts_from_the_start(
        self, owner: psycopg.Connection
    ) -> None:
        begin, old, new = self.cursor(), rated(), rated()
        end(old)
        # What the old cluster had counted up to, this one has not reached.
        owner.execute(
            "UPDATE es.match_head SET ended_order = ended_order + 1000000 WHERE match_id = %s",
            (old.match_id,),
        )
        before = store.finished_rated(begin, 10)

        owner.execute("SELECT es.go_on_in_order()")
        owner.execute("SELECT es.go_on_in_order()")
        end(new)

        assert before == []
        assert finished_ids(below_horizon(begin, 2)) == [old.match_id, new.match_id]


def rated() -> Stream:
    """A rated match of two players; ratings read it too."""
    return begun(rated=True, players=(uuid4().hex, uuid4().hex))


def below_horizon(after: tuple[int, UUID] | None, count: int) -> list[Finished]:
    """What has finished, once it is `count`: any open transaction may hold them back."""
    until_s = time.monotonic() + 20
    while len(found := store.finished_rated(after, 10)) < count and time.monotonic() < until_s:
        time.sleep(0.05)
    return found


def end(stream: Stream) -> None:
    """Finish the match."""
    assert stream.append(drawn(), status=FINISHED, summary=WON).outcome == "ok"


def ids(listed: Sequence[Listed]) -> list[UUID]:
    """The matches' ids."""
    return [one.match_id for one in listed]


def finished_ids(finished: Sequence[Finished]) -> list[UUID]:
    """The matches' ids."""
    return [one.match.match_id for one in finished]
