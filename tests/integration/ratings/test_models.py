from __future__ import annotations

from uuid import UUID

import psycopg
import pytest
from django.db import IntegrityError, ProgrammingError, connection

from ratings import services
from ratings.fold import NOBODY
from ratings.models import CatchUp, Rating, RatingEvent
from tests.integration.ratings.fakes import FakeQueries
from tests.support.servers import Servers


@pytest.fixture
def one_match(matches: FakeQueries) -> None:
    matches.finish()
    assert services.apply_finished() == 1


CHANGES = (
    "UPDATE ratings_ratingevent SET after_rating = 2000 WHERE seq = 1",
    "DELETE FROM ratings_ratingevent WHERE seq = 1",
    "TRUNCATE ratings_ratingevent",
)


@pytest.mark.usefixtures("one_match")
class TestTheLog:
    @pytest.mark.parametrize("change", CHANGES)
    def test_refuses_the_app_by_right(self, change: str) -> None:
        with (
            pytest.raises(ProgrammingError, match="permission denied"),
            connection.cursor() as cursor,
        ):
            cursor.execute(change)

    @pytest.mark.parametrize("change", CHANGES)
    def test_refuses_its_owner_by_trigger(self, owner: psycopg.Connection, change: str) -> None:
        with pytest.raises(psycopg.errors.RestrictViolation, match="append-only"):
            owner.execute(change)

    @pytest.mark.parametrize("change", CHANGES)
    def test_refuses_a_superuser_who_calls_himself_a_replica(
        self, superuser: psycopg.Connection, change: str
    ) -> None:
        superuser.execute("SET session_replication_role = replica")

        with pytest.raises(psycopg.errors.RestrictViolation, match="append-only"):
            superuser.execute(change)

    def test_is_read_by_the_auditor(self, auditor: psycopg.Connection) -> None:
        for table in ("ratings_ratingevent", "ratings_rating", "ratings_catchup"):
            assert auditor.execute(f"SELECT count(*) > 0 FROM {table}").fetchone() == (True,)

    @pytest.mark.parametrize(
        "disturbed",
        [
            {"seq": 11},  # the match and seat again
            {"seq": 11, "seat": 1},  # the match and player again
            {"match_id": UUID(int=99)},  # the number again
        ],
    )
    def test_takes_no_line_twice(self, disturbed: dict[str, object]) -> None:
        row = RatingEvent.objects.get(seq=1)
        row.pk = None
        for name, value in disturbed.items():
            setattr(row, name, value)

        with pytest.raises(IntegrityError, match="rating_event_"):
            row.save(force_insert=True)


class TestMigration:
    def test_makes_triggers_that_fire_for_replicas_too(self, servers: Servers) -> None:
        with psycopg.connect(servers.owner_url) as owner:
            found = owner.execute(
                "SELECT tgname, tgenabled FROM pg_trigger"
                " WHERE tgrelid = 'ratings_ratingevent'::regclass AND NOT tgisinternal ORDER BY 1"
            ).fetchall()

        assert found == [("append_only_row", "A"), ("append_only_truncate", "A")]


@pytest.mark.usefixtures("database")
class TestTheCatchUp:
    def test_has_one_row_from_the_start(self) -> None:
        row = CatchUp.objects.get()

        assert (row.ended_order, row.match_id) == (None, None)

    def test_gets_no_second_row(self) -> None:
        with pytest.raises(ProgrammingError, match="permission denied"):
            CatchUp.objects.create(only=False)


class TestStanding:
    def test_needs_a_match(self) -> None:
        with pytest.raises(ValueError, match="has no match"):
            Rating.of(pool="go-blitz", player=UUID(int=1), standing=NOBODY)
