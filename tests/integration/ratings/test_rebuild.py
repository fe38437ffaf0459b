from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from psycopg.conninfo import make_conninfo

from ratings import rebuild as rebuilding
from ratings import services
from ratings.management.commands import rebuild_ratings
from ratings.models import CatchUp, Rating, RatingEvent
from ratings.rebuild import Outcome, rebuild
from tests.integration.ratings.fakes import ANN, BEN, CAT, DAN, FakeQueries
from tests.support.locking import locked
from tests.support.servers import Servers

CONTROLS = ("1+1", "3+2", "5+5")
PLACES = ((1, 2), (2, 1), (1, 1))
PAIRS = ((ANN, BEN), (CAT, DAN), (BEN, CAT), (DAN, ANN), (ANN, CAT))


@pytest.fixture
def played(matches: FakeQueries) -> FakeQueries:
    """Twenty-four matches in three pools, applied in three runs, and one that nobody applied."""
    for n in range(24):
        matches.finish(*PAIRS[n % 5], places=PLACES[n % 3], control=CONTROLS[n % 2 + n % 3 % 2])
        if n % 8 == 7:
            services.apply_finished()
    matches.finish()
    return matches


def run(*, replace: bool = False) -> Outcome:
    return rebuild(replace=replace, progress=lambda _matches, _entries: None)


def told(*arguments: str) -> str:
    out = io.StringIO()
    call_command("rebuild_ratings", *arguments, stdout=out)
    return out.getvalue()


def tables() -> Any:
    ratings = sorted(row.line() for row in Rating.objects.all())
    return ratings, list(RatingEvent.objects.order_by("id").values())


@pytest.mark.usefixtures("played")
class TestCheck:
    def test_finds_the_live_tables_equal_byte_for_byte(self) -> None:
        before = tables()

        outcome = run()

        assert outcome == Outcome(matches=24, entries=48, standings=12, difference=None)
        assert tables() == before

    def test_finds_them_equal_in_chunks_of_any_size(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(rebuilding, "CHUNK", 7)

        assert run().difference is None

    @pytest.mark.parametrize(
        ("column", "value"),
        [
            ("rating", "1500.000001"),
            ("rd", "99.999999"),
            ("vol", "0.060000001"),
            ("games", 77),
            ("wins", 77),
            ("draws", 77),
            ("losses", 77),
            ("last_at_ms", 77),
            ("settled_until_ms", 77),
        ],
    )
    def test_finds_a_changed_rating(self, column: str, value: object) -> None:
        Rating.objects.filter(player=ANN, pool="xqmj-32-2p-blitz").update(**{column: value})
        before = tables()

        difference = run().difference

        assert difference is not None
        assert difference.where == f"rating xqmj-32-2p-blitz {ANN}"
        assert str(value) in str(difference.live)
        assert str(value) not in str(difference.recomputed)
        assert tables() == before

    def test_finds_a_missing_rating(self) -> None:
        Rating.objects.filter(player=ANN, pool="xqmj-32-2p-blitz").delete()

        difference = run().difference

        assert difference is not None
        assert difference.live is None
        assert str(difference.recomputed).startswith(f'["xqmj-32-2p-blitz","{ANN.hex}"')

    def test_finds_a_rating_that_no_match_gave(self) -> None:
        Rating.objects.filter(player=ANN, pool="xqmj-32-2p-blitz").update(pool="go-blitz")

        difference = run().difference

        assert difference is not None
        assert difference.where == f"rating go-blitz {ANN}"
        assert difference.recomputed is None

    @pytest.mark.parametrize(
        "column",
        ["algorithm", "place", "at_ms", "idle_ms", "before_rating", "after_rd", "after_vol"],
    )
    def test_finds_a_line_of_the_log_that_was_changed_behind_every_guard(
        self, owner: psycopg.Connection, column: str
    ) -> None:
        unguarded(
            owner,
            f"UPDATE ratings_ratingevent SET {column} = {column} + 1"
            " WHERE id = (SELECT min(id) FROM ratings_ratingevent)",
        )

        difference = run().difference

        assert difference is not None
        assert difference.where.startswith("rating log xqmj-32-2p-")
        assert difference.live != difference.recomputed

    @pytest.mark.parametrize("which", ["min", "max"])
    def test_finds_a_line_that_was_deleted_behind_every_guard(
        self, owner: psycopg.Connection, which: str
    ) -> None:
        unguarded(
            owner,
            "DELETE FROM ratings_ratingevent"
            f" WHERE id = (SELECT {which}(id) FROM ratings_ratingevent)",
        )

        difference = run().difference

        assert difference is not None
        assert difference.live is None

    def test_finds_a_line_that_no_match_gave(self) -> None:
        row = RatingEvent.objects.order_by("id")[0]
        row.pk, row.pool, row.match_id = None, "go-blitz", ANN
        row.save(force_insert=True)

        difference = run().difference

        assert difference is not None
        assert (difference.live, difference.recomputed) == ("49 entries", "48 entries")

    def test_finds_a_match_that_was_applied_and_is_gone(self, played: FakeQueries) -> None:
        last = services.position(CatchUp.objects.get())
        played.finished = [
            match for match in played.finished if last is None or match.match_id != last.match_id
        ][:-1]

        difference = run().difference

        assert difference is not None
        assert difference.where == "the matches"

    def test_finds_a_result_that_was_changed(self, played: FakeQueries) -> None:
        played.finished[3] = replace(played.finished[3], places=(2, 1))

        difference = run().difference

        assert difference is not None
        assert difference.where.startswith("rating log")


def unguarded(owner: psycopg.Connection, statement: str) -> None:
    """What somebody could do who owns the table and wants to."""
    owner.execute("ALTER TABLE ratings_ratingevent DISABLE TRIGGER USER")
    owner.execute(statement)
    owner.execute("ALTER TABLE ratings_ratingevent ENABLE ALWAYS TRIGGER append_only_row")


@pytest.mark.usefixtures("played")
class TestReplace:
    @pytest.mark.parametrize(
        "damage",
        [
            lambda: Rating.objects.update(rating=1, games=0),
            lambda: Rating.objects.all().delete(),
            lambda: Rating.objects.filter(player=ANN, games=3).update(pool="go-blitz"),
            lambda: None,
        ],
    )
    def test_writes_the_ratings_anew(self, damage: Callable[[], object]) -> None:
        before = tables()
        damage()

        outcome = run(replace=True)

        assert outcome.difference is None
        assert tables() == before

    def test_leaves_all_as_it_is_where_the_log_is_wrong(self, owner: psycopg.Connection) -> None:
        unguarded(owner, "UPDATE ratings_ratingevent SET place = 3 WHERE seq = 3")
        Rating.objects.update(rating=1)
        before = tables()

        assert run(replace=True).difference is not None
        assert tables() == before

    def test_lets_the_catch_up_go_on_from_there(self, played: FakeQueries) -> None:
        Rating.objects.all().delete()

        run(replace=True)

        assert services.apply_finished() == 1
        assert run() == Outcome(matches=25, entries=50, standings=12, difference=None)
        assert len(played.finished) == 25


class TestBesideTheLiveSystem:
    def test_takes_in_what_is_applied_meanwhile(
        self, played: FakeQueries, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(rebuilding, "CHUNK", 10)
        applied: list[int] = []

        def progress(matches: int, _entries: int) -> None:
            if matches == 20:
                applied.append(services.apply_finished())

        outcome = rebuild(replace=False, progress=progress)

        assert applied == [1]
        assert outcome == Outcome(matches=25, entries=50, standings=12, difference=None)
        assert len(played.finished) == 25


class TestCommand:
    @pytest.mark.usefixtures("played")
    def test_checks(self) -> None:
        lines = told("--check").splitlines()

        assert lines[0].startswith("24 matches in ")
        assert lines[1] == "48 log entries equal, 12 ratings equal."

    @pytest.mark.usefixtures("played")
    def test_rebuilds(self) -> None:
        Rating.objects.all().delete()

        assert told().endswith("48 log entries equal, 12 ratings written anew.\n")
        assert Rating.objects.count() == 12

    @pytest.mark.usefixtures("played")
    def test_tells_how_far_it_is(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(rebuilding, "CHUNK", 12)
        monkeypatch.setattr(rebuild_ratings, "REPORT_S", 0.0)

        lines = told("--check").splitlines()

        assert lines[0].startswith(" 50%  12 matches, ")
        assert lines[1].startswith("100%  24 matches, ")

    @pytest.mark.usefixtures("played")
    def test_fails_with_the_first_difference(self) -> None:
        Rating.objects.filter(player=ANN, pool="xqmj-32-2p-blitz").update(games=77)

        with pytest.raises(CommandError) as failure:
            told("--check")

        where, live, recomputed = str(failure.value).splitlines()
        assert where == f"rating xqmj-32-2p-blitz {ANN} differs; nothing was changed."
        assert live.startswith("live:       [")
        assert '"games":77' in live
        assert recomputed.startswith("recomputed: [")

    @pytest.mark.slow
    @pytest.mark.usefixtures("played")
    @pytest.mark.parametrize("table", ["ratings_ratingevent", "ratings_catchup"])
    def test_ends_however_long_a_statement_takes(
        self, servers: Servers, database: str, table: str
    ) -> None:
        with locked(make_conninfo(servers.owner_url, dbname=database), table):
            assert "48 log entries equal, 12 ratings equal." in told("--check")

    @pytest.mark.usefixtures("matches")
    def test_has_nothing_to_say_of_nothing(self) -> None:
        assert told("--check").endswith("0 log entries equal, 0 ratings equal.\n")
