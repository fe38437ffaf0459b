"""Ratings over the log of matches itself, in the database that all tests of this worker share."""

from __future__ import annotations

import time

import psycopg
import pytest

from ratings import services
from ratings.models import CatchUp, RatingEvent
from ratings.rebuild import rebuild
from tests.support import api
from tests.support.api import InProcess, Player
from tests.support.servers import Servers

pytestmark = pytest.mark.django_db

BLITZ = "xqmj-32-2p-blitz"


@pytest.fixture
def pair() -> tuple[Player, Player]:
    return api.registered(InProcess()), api.registered(InProcess())


def resigned(loser: Player, winner: Player, *, rated: bool = True) -> str:
    match_id = api.begun(loser, winner, rated=rated, opponent=winner.username)
    answer = loser.post(f"matches/{match_id}/resign")
    assert answer.status == 200, answer.raw
    return match_id


def applied(match_id: str) -> list[RatingEvent]:
    """The match's lines in the rating log, which may have to wait for other transactions."""
    end = time.monotonic() + 10
    while True:
        services.apply_finished()
        rows = list(RatingEvent.objects.filter(match_id=match_id).order_by("seat"))
        if rows or time.monotonic() > end:
            return rows
        time.sleep(0.02)


class TestRating:
    def test_follows_the_result(self, pair: tuple[Player, Player]) -> None:
        loser, winner = pair
        match_id = resigned(loser, winner)

        lines = applied(match_id)

        assert [
            (line.pool, line.player.hex, line.place, str(line.after_rating)) for line in lines
        ] == [
            (BLITZ, loser.id, 2, "1337.689106"),
            (BLITZ, winner.id, 1, "1662.310894"),
        ]
        (shown,) = winner.get(f"players/{winner.username}/ratings").json["ratings"]
        assert (shown["wins"], shown["rating"]) == (1, "1662.310894")
        (change,) = loser.get(f"players/{loser.username}/ratings/{BLITZ}/history").json["changes"]
        assert change["match_id"] == match_id
        assert change["opponents"][0]["player"]["username"] == winner.username

    def test_is_not_moved_by_a_match_that_never_began_or_is_not_rated(
        self, pair: tuple[Player, Player]
    ) -> None:
        loser, winner = pair
        aborted = api.paired(loser, winner, rated=True, opponent=winner.username)
        assert loser.post(f"matches/{aborted}/leave").status == 200
        assert loser.get(f"matches/{aborted}").json["match"]["ended"]["reason"] == "aborted"
        casual = resigned(loser, winner, rated=False)

        last = resigned(winner, loser)

        assert len(applied(last)) == 2
        assert not RatingEvent.objects.filter(match_id__in=[aborted, casual]).exists()

    def test_rebuilds_to_the_same_bytes(self, pair: tuple[Player, Player]) -> None:
        loser, winner = pair
        assert applied(resigned(loser, winner))
        assert applied(resigned(winner, loser))

        outcome = rebuild(replace=False, progress=lambda _matches, _entries: None)

        assert outcome.difference is None
        assert outcome.matches >= 2

    def test_goes_on_after_a_restore_into_a_cluster_that_counts_from_the_start(
        self, pair: tuple[Player, Player], servers: Servers
    ) -> None:
        loser, winner = pair
        assert applied(resigned(loser, winner))
        last = CatchUp.objects.get()
        # What the old cluster had counted up to, this one has not reached.
        with psycopg.connect(servers.owner_url, autocommit=True) as owner:
            for table in ("es.match_head", "public.ratings_catchup"):
                owner.execute(
                    f"UPDATE {table} SET ended_order = ended_order + 1000000 WHERE match_id = %s",
                    (last.match_id,),
                )
            owner.execute("SELECT es.go_on_in_order()")

        assert len(applied(resigned(winner, loser))) == 2
