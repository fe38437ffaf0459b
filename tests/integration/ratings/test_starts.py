"""What a match shows of its players' strength: that of its start, for ever."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from matches.models import Start
from matches.services import execute, standings
from matches.services.ports import Standing
from ratings import services
from tests.integration.ratings.test_real_matches import applied, resigned
from tests.support import api
from tests.support.api import InProcess, Player
from tests.support.offering import in_thread
from tests.support.seated import at_once

pytestmark = pytest.mark.django_db(transaction=True)

EVEN = {
    "rating": 1500,
    "provisional": True,
    "expected": "0.500000",
    "win": 162,
    "draw": 0,
    "loss": -162,
}


@pytest.fixture(autouse=True)
def _forgetful() -> Iterator[None]:
    standings._remembered = standings._Remembered()
    yield
    standings._remembered = standings._Remembered()


@pytest.fixture
def pair() -> tuple[Player, Player]:
    return api.registered(InProcess()), api.registered(InProcess())


def shown(player: Player, match_id: str) -> Any:
    """The standings in the player's view of a match, as if no process had read them before."""
    standings._remembered = standings._Remembered()
    return player.get(f"matches/{match_id}").json.get("standings")


class TestStandings:
    def test_of_newcomers_are_even(self, pair: tuple[Player, Player]) -> None:
        match_id = api.paired(*pair, rated=True)

        assert shown(pair[0], match_id) == [EVEN, EVEN]

    def test_are_missing_while_a_seat_is_free(self, pair: tuple[Player, Player]) -> None:
        match_id = api.created(pair[0], rated=True)
        before = shown(pair[0], match_id)
        pair[1].post(f"matches/{match_id}/join")

        assert before is None
        assert shown(pair[0], match_id) == [EVEN, EVEN]

    def test_follow_the_match_before(self, pair: tuple[Player, Player]) -> None:
        loser, winner = pair
        applied(resigned(loser, winner))

        weak, strong = shown(loser, api.paired(loser, winner, rated=True))

        assert (weak["rating"], strong["rating"]) == (1338, 1662)
        assert (weak["provisional"], strong["provisional"]) == (True, True)
        assert (weak["expected"][:6], strong["expected"][:6]) == ("0.2427", "0.7572")
        assert (weak["win"], weak["draw"], weak["loss"]) == (229, 86, -58)
        assert (strong["win"], strong["draw"], strong["loss"]) == (58, -86, -229)

    def test_wait_for_the_match_before_to_be_rated(self, pair: tuple[Player, Player]) -> None:
        ended = resigned(*pair)
        match_id = api.paired(*pair, rated=True)
        before = shown(pair[0], match_id)
        applied(ended)

        assert before is None
        assert [one["rating"] for one in shown(pair[0], match_id)] == [1338, 1662]

    def test_stay_those_of_the_start(self, pair: tuple[Player, Player]) -> None:
        first = resigned(*pair)
        unseen = shown(pair[0], first)
        services.apply_finished()
        applied(resigned(*pair))

        assert unseen == shown(pair[0], first) == [EVEN, EVEN]

    def test_looked_at_late_are_those_of_the_start(self, pair: tuple[Player, Player]) -> None:
        first = resigned(*pair)
        applied(first)
        assert not Start.objects.filter(match_id=first).exists()

        assert shown(pair[0], first) == [EVEN, EVEN]

    def test_of_a_casual_match_hold_no_stakes(self, pair: tuple[Player, Player]) -> None:
        match_id = api.paired(*pair)

        assert shown(pair[0], match_id) == [{"rating": 1500, "provisional": True}] * 2

    def test_are_none_where_nothing_is_rated(self, pair: tuple[Player, Player]) -> None:
        slow = api.paired(*pair, control="10+5")
        guest = api.guest(InProcess())
        mixed = api.paired(pair[0], guest)
        alone = api.created(guest, computer=2)

        assert shown(pair[0], slow) is None
        assert shown(pair[0], mixed) == [{"rating": 1500, "provisional": True}, None]
        assert shown(guest, alone) is None

    def test_are_the_same_for_everybody_and_in_the_etag(self, pair: tuple[Player, Player]) -> None:
        match_id = api.begun(*pair, rated=True)
        first, again = (pair[0].get(f"matches/{match_id}") for _ in range(2))

        assert first.headers["etag"] == again.headers["etag"]
        assert shown(api.registered(InProcess()), match_id) == [EVEN, EVEN]

    def test_stand_in_lists_once_somebody_has_looked(self, pair: tuple[Player, Player]) -> None:
        match_id = api.paired(*pair, rated=True)
        (before,) = pair[1].get("matches").json["matches"]
        shown(pair[0], match_id)
        (after,) = pair[1].get("matches").json["matches"]

        assert "standings" not in before
        assert after["standings"] == [EVEN, EVEN]

    def test_are_said_once_though_many_ask_at_once(
        self, pair: tuple[Player, Player], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        entry = execute.observe(match_id=UUID(api.paired(*pair)))
        said = iter(range(1_000, 1_016))

        def at_start(**_: Any) -> standings.Standings:
            return Standing(next(said), False), None

        monkeypatch.setattr(standings, "_at_start", lambda: at_start)
        found = at_once(*[in_thread(lambda: standings.of(entry))] * 16)

        (stored,) = Start.objects.filter(match_id=entry.match_id)
        assert not [one for one in found if isinstance(one, Exception)]
        assert {one[0].rating for one in found if isinstance(one, tuple)} == {
            stored.standings[0]["rating"]
        }

    def test_cost_no_trip_but_the_first(
        self, pair: tuple[Player, Player], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        match_id = api.paired(*pair, rated=True)
        shown(pair[0], match_id)
        monkeypatch.setattr(standings, "_read", None)

        assert pair[0].get(f"matches/{match_id}").json["standings"] == [EVEN, EVEN]
