"""What lists and ratings are told."""

from __future__ import annotations

import time
from collections.abc import Callable
from uuid import uuid4

from matches.domain.commands import Join, Leave, Resign
from matches.services import queries
from matches.services.accounts import Identity
from matches.services.queries import Cursor
from tests.support.seated import Seated

Make = Callable[..., Identity]


def finished(player: Make, *, loser: int = 0, rated: bool = True) -> Seated:
    seated = Seated([player(), player()], rated=rated).deal()
    seated.send(loser, Resign())
    return seated


def end_of_log() -> Cursor | None:
    """After every match that is finished now."""
    cursor = None
    while page := queries.finished_rated(after=cursor, limit=500):
        cursor = page[-1].cursor
    return cursor


class TestFinishedRated:
    def test_gives_places_by_seat(self, player: Make) -> None:
        after = end_of_log()
        lost, won = finished(player, loser=0), finished(player, loser=1)

        first, second = queries.finished_rated(after=after, limit=10)

        assert (first.match_id, first.places) == (lost.match_id, (2, 1))
        assert (second.match_id, second.places) == (won.match_id, (1, 2))
        assert first.players == tuple(lost.players)
        assert (first.ruleset, first.control) == ("xqmj-32-2p", "3+2")
        assert first.ended_at_ms == lost.rows[-1].at_ms
        assert first.cursor < second.cursor

    def test_goes_on_after_a_cursor(self, player: Make) -> None:
        after = end_of_log()
        ids = [finished(player).match_id for _ in range(3)]

        found = queries.finished_rated(after=after, limit=2)
        rest = queries.finished_rated(after=found[-1].cursor, limit=2)

        assert [one.match_id for one in found + rest] == ids

    def test_leaves_out_unrated_live_and_aborted_matches(self, player: Make) -> None:
        after = end_of_log()
        finished(player, rated=False)
        Seated([player(), player()], rated=True).deal()
        aborted = Seated([player(), player()], rated=True)
        aborted.send(0, Leave())

        assert queries.finished_rated(after=after, limit=10) == []


class TestMyMatches:
    def test_come_newest_first_and_page_by_page(self, player: Make) -> None:
        ana = player()
        ids = []
        for _ in range(5):
            ids.append(Seated([ana]).match_id)
            # Those of one millisecond have no order that anybody could see.
            time.sleep(0.002)

        found = queries.my_matches(ana.id, limit=3)
        rest = queries.my_matches(
            ana.id, before=(found[-1].created_at_ms, found[-1].match_id), limit=3
        )

        assert [one.match_id for one in found + rest] == ids[::-1]

    def test_do_not_move_when_played_in(self, player: Make) -> None:
        ana, ben = player(), player()
        older, _ = Seated([ana, ben]), Seated([ana, ben])
        before = [one.match_id for one in queries.my_matches(ana.id, limit=9)]
        older.send(1, Join())

        assert [one.match_id for one in queries.my_matches(ana.id, limit=9)] == before

    def test_are_those_of_one_status(self, player: Make) -> None:
        ana = player()
        seated = Seated([ana])
        Seated([ana]).send(0, Leave())

        assert [one.match_id for one in queries.my_matches(ana.id, limit=9, status=1)] == [
            seated.match_id
        ]


class TestPlayers:
    def test_are_found_by_name_whatever_its_case(self, player: Make) -> None:
        ana = player()
        assert ana.username is not None

        assert queries.player_by_username(ana.username.upper()) == ana.ref

    def test_are_not_found_where_they_are_guests_or_nobody(self, player: Make) -> None:
        guest = player("guest")

        assert guest.username is None
        assert queries.player_by_username("nobody-of-this-name") is None
        assert queries.player_by_username("nul\0") is None

    def test_have_names_unless_they_are_guests(self, player: Make) -> None:
        ana, guest = player(), player("guest")

        found = queries.usernames([ana.id, guest.id, uuid4().hex])

        assert found == {ana.id: ana.username, guest.id: None}


class TestRatedControls:
    def test_are_by_ruleset(self) -> None:
        assert queries.rated_controls()["xqmj-32-2p"] == ("1+1", "3+2", "5+5")
