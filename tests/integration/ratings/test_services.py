from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import IntegrityError, connection, connections
from django.test.utils import CaptureQueriesContext

from ratings import services, tasks
from ratings.fold import Position, Unratable
from ratings.models import CatchUp, Rating, RatingEvent
from tests.integration.ratings.fakes import ANN, BEN, CAT, DAN, MINUTE_MS, START_MS, FakeQueries


def log() -> list[tuple[str, int, UUID, str, str]]:
    """The rating log: pool, seq, player, rating before and after."""
    return [
        (row.pool, row.seq, row.player, str(row.before_rating), str(row.after_rating))
        for row in RatingEvent.objects.order_by("pool", "seq")
    ]


def state() -> list[Any]:
    """Every byte that application decides."""
    events = [row.entry.line() for row in RatingEvent.objects.order_by("pool", "seq")]
    ratings = sorted(row.line() for row in Rating.objects.all())
    return [events, ratings, services.position(CatchUp.objects.get())]


class TestApplyFinished:
    def test_rates_a_match_once(self, matches: FakeQueries) -> None:
        match = matches.finish(ANN, BEN, places=(1, 2))

        assert services.apply_finished() == 1

        assert log() == [
            ("xqmj-32-2p-blitz", 1, ANN, "1500.000000", "1662.310894"),
            ("xqmj-32-2p-blitz", 2, BEN, "1500.000000", "1337.689106"),
        ]
        ann = Rating.objects.get(player=ANN)
        assert (str(ann.rating), str(ann.rd), str(ann.vol)) == (
            "1662.310894",
            "290.318964",
            "0.059999675",
        )
        assert (ann.games, ann.wins, ann.draws, ann.losses) == (1, 1, 0, 0)
        # Provisional from the first instant on: the deviation is above 110 still.
        assert ann.last_at_ms == ann.settled_until_ms == START_MS
        at = services.position(CatchUp.objects.get())
        assert at == Position(match.ended_order, match.match_id)

    @pytest.mark.usefixtures("matches")
    def test_does_nothing_where_nothing_has_finished(self) -> None:
        assert services.apply_finished() == 0

        assert log() == []

    def test_changes_nothing_when_run_again(self, matches: FakeQueries) -> None:
        matches.finish()
        services.apply_finished()
        before = state()

        assert [services.apply_finished() for _ in range(100)] == [0] * 100

        assert state() == before

    def test_takes_no_lock_and_no_transaction_where_nothing_is_new(
        self, matches: FakeQueries
    ) -> None:
        matches.finish()
        services.apply_finished()

        with CaptureQueriesContext(connection) as statements:
            services.apply_finished()

        (only,) = statements.captured_queries
        assert only["sql"].startswith("SELECT")
        assert "FOR UPDATE" not in only["sql"]

    def test_goes_on_from_the_recorded_strength(self, matches: FakeQueries) -> None:
        matches.finish(ANN, BEN)
        services.apply_finished()
        matches.finish(BEN, CAT)

        services.apply_finished()

        assert log()[2:] == [
            ("xqmj-32-2p-blitz", 3, BEN, "1337.689106", "1502.549173"),
            ("xqmj-32-2p-blitz", 4, CAT, "1500.000000", "1268.115108"),
        ]
        ben = RatingEvent.objects.get(seq=3)
        assert (ben.idle_ms, ben.at_ms) == (MINUTE_MS, START_MS + MINUTE_MS)

    def test_applies_in_the_order_of_ends_and_not_of_ids_or_times(
        self, matches: FakeQueries
    ) -> None:
        late = matches.finish(ANN, BEN, order=30, at_ms=START_MS, match_id=UUID(int=1))
        tied_second = matches.finish(ANN, BEN, order=20, at_ms=START_MS + 5, match_id=UUID(int=9))
        tied_first = matches.finish(ANN, BEN, order=20, at_ms=START_MS + 9, match_id=UUID(int=8))

        services.apply_finished()

        order = RatingEvent.objects.filter(seat=0).order_by("seq")
        assert [row.match_id for row in order] == [
            tied_first.match_id,
            tied_second.match_id,
            late.match_id,
        ]
        # Ended earlier, seen later: no time passed, and the last instant stays.
        assert [row.idle_ms for row in order] == [0, 0, 0]
        assert Rating.objects.get(player=ANN).last_at_ms == START_MS + 9

    def test_gives_the_same_in_batches_of_any_size(
        self, matches: FakeQueries, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(services, "BATCH", 3)
        pairs = [(ANN, BEN), (CAT, DAN), (BEN, CAT), (DAN, ANN)]
        for n in range(10):
            matches.finish(*pairs[n % 4], control=("1+1", "3+2")[n % 2])

        assert services.apply_finished() == 10

        seqs: dict[str, list[int]] = {}
        for pool, seq, *_ in log():
            seqs.setdefault(pool, []).append(seq)
        assert seqs == {
            "xqmj-32-2p-blitz": list(range(1, 11)),
            "xqmj-32-2p-bullet": list(range(1, 11)),
        }

    def test_stops_at_its_limit(self, matches: FakeQueries) -> None:
        for _ in range(5):
            matches.finish()

        assert services.apply_finished(limit=3) == 3
        assert services.apply_finished(limit=3) == 2

    def test_rates_four_seats_at_once(self, matches: FakeQueries) -> None:
        matches.finish(ANN, BEN, CAT, DAN, places=(1, 2, 2, 4))

        services.apply_finished()

        after = [row[4] for row in log()]
        assert [row[2] for row in log()] == [ANN, BEN, CAT, DAN]
        assert after[1] == after[2] == "1500.000000"
        assert float(after[0]) - 1500 == pytest.approx(1500 - float(after[3]))

    def test_needs_few_statements_however_many_matches(self, matches: FakeQueries) -> None:
        for _ in range(50):
            matches.finish()

        with CaptureQueriesContext(connection) as statements:
            services.apply_finished()

        # Peek, BEGIN, lock, three reads, three writes, COMMIT.
        assert len(statements) == 10


class TestObstacle:
    def test_stops_everything_behind_it_and_nothing_before(self, matches: FakeQueries) -> None:
        matches.finish(ANN, BEN)
        matches.finish(ANN, BEN, control="10+5")
        matches.finish(ANN, BEN)

        for _ in range(2):
            with pytest.raises(Unratable, match="no pool for control"):
                services.apply_finished()

        assert [row[1] for row in log()] == [1, 2]

    def test_is_passed_once_it_can_be_rated(self, matches: FakeQueries) -> None:
        odd = matches.finish(ANN, BEN, control="10+5")
        with pytest.raises(Unratable):
            services.apply_finished()

        matches.finished[0] = replace(odd, control="5+5")

        assert services.apply_finished() == 1

    def test_is_a_match_out_of_order(
        self, matches: FakeQueries, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first, second = matches.finish(), matches.finish()
        monkeypatch.setattr(matches, "finished_rated", lambda **_: [second, first])

        with pytest.raises(Unratable, match="comes after"):
            services.apply_finished()

        assert log() == []


class TestDrift:
    @pytest.mark.parametrize(
        "damage",
        [
            lambda: Rating.objects.filter(player=ANN).delete(),
            lambda: Rating.objects.filter(player=ANN).update(rating=2000),
            lambda: Rating.objects.filter(player=ANN).update(rd=50),
            lambda: Rating.objects.filter(player=ANN).update(vol="0.07"),
            lambda: Rating.objects.filter(player=BEN).update(player=CAT),
        ],
    )
    def test_of_the_ratings_from_the_log_lets_nothing_be_logged(
        self, matches: FakeQueries, damage: Callable[[], object]
    ) -> None:
        matches.finish(ANN, BEN)
        services.apply_finished()
        matches.finish(ANN, CAT)
        damage()

        with pytest.raises(services.Drift):
            services.apply_finished()

        assert [row[1] for row in log()] == [1, 2]


class TestExactlyOnce:
    def test_holds_for_sixteen_at_a_time(self, matches: FakeQueries) -> None:
        for n in range(40):
            matches.finish(*((ANN, BEN), (CAT, DAN), (BEN, CAT))[n % 3])

        done, errors = at_once(16, lambda: services.apply_finished(limit=40))
        while services.apply_finished():
            pass

        assert errors == []
        assert sum(done) <= 40
        assert [row[1] for row in log()] == list(range(1, 81))
        assert RatingEvent.objects.values("match_id").distinct().count() == 40

    def test_holds_while_matches_go_on_ending(self, matches: FakeQueries) -> None:
        for _ in range(5):
            matches.finish()

        # One thread at a time adds at the end, as the horizon of the real log makes sure.
        guard = threading.Lock()

        def guarded() -> int:
            with guard:
                matches.finish()
            return services.apply_finished()

        _, errors = at_once(8, guarded)
        services.apply_finished()

        assert errors == []
        assert [row[1] for row in log()] == list(range(1, 2 * 13 + 1))

    def test_holds_back_who_comes_while_another_works(self, matches: FakeQueries) -> None:
        matches.finish()
        working, seen = threading.Event(), threading.Event()

        def first() -> int:
            def pause() -> None:
                if connection.in_atomic_block and not working.is_set():
                    working.set()
                    seen.wait(10)

            matches.on_read = pause
            return services.apply_finished()

        results: list[int] = []
        thread = threading.Thread(target=in_thread(first, results, []))
        thread.start()
        working.wait(10)

        assert services.apply_finished() == 0
        assert log() == []

        seen.set()
        thread.join()
        assert results == [1]
        assert [row[1] for row in log()] == [1, 2]

    @pytest.mark.parametrize("table", ["ratings_ratingevent", "ratings_rating", "ratings_catchup"])
    def test_holds_after_a_failure_at_any_write(
        self, matches: FakeQueries, owner: psycopg.Connection, table: str
    ) -> None:
        matches.finish()
        before = state()
        owner.execute(
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'planted' USING ERRCODE = 'integrity_constraint_violation';"
            " END $$"
        )
        owner.execute(
            f"CREATE TRIGGER planted AFTER INSERT OR UPDATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION fail()"
        )

        with pytest.raises(IntegrityError, match="planted"):
            services.apply_finished()
        connections.close_all()
        assert state() == before

        owner.execute("DROP FUNCTION fail() CASCADE")
        assert services.apply_finished() == 1
        assert [row[1] for row in log()] == [1, 2]

    def test_holds_against_a_catch_up_that_was_set_back(self, matches: FakeQueries) -> None:
        matches.finish()
        services.apply_finished()
        before = state()
        CatchUp.objects.update(ended_order=None, match_id=None)

        with pytest.raises(IntegrityError, match="rating_event_match_seat"):
            services.apply_finished()

        assert state()[:2] == before[:2]


class TestTask:
    def test_has_the_name_that_beat_and_nudges_call(self) -> None:
        assert tasks.apply_finished.name == "ratings.apply_finished"
        assert tasks.apply_finished.acks_late
        assert (tasks.apply_finished.soft_time_limit, tasks.apply_finished.time_limit) == (20, 30)

    def test_applies(self, matches: FakeQueries) -> None:
        matches.finish()

        assert tasks.apply_finished() == 1
        assert tasks.apply_finished() == 0


def in_thread(
    work: Callable[[], int], results: list[int], errors: list[Exception]
) -> Callable[[], None]:
    def run() -> None:
        try:
            results.append(work())
        except Exception as error:
            errors.append(error)
        finally:
            connections.close_all()

    return run


def at_once(count: int, work: Callable[[], int]) -> tuple[list[int], list[Exception]]:
    """Do the work in so many threads that start together."""
    results: list[int] = []
    errors: list[Exception] = []
    start = threading.Barrier(count)

    def together() -> int:
        start.wait()
        return work()

    threads = [threading.Thread(target=in_thread(together, results, errors)) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results, errors
