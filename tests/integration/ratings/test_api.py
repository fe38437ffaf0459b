from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from ratings import services
from ratings.models import Rating
from tests.integration.ratings.fakes import ANN, BEN, CAT, DAN, MINUTE_MS, START_MS, FakeQueries

BLITZ = "xqmj-32-2p-blitz"
LONG_AFTER_MS = 4_000_000_000_000
"""In the year 2096: no clock of this test's is there yet."""


def get(path: str, status: int = 200, **query: str) -> Any:
    """What the address answers as JSON, having answered with the status."""
    response = Client().get(f"/api/v1/{path}", query)
    assert response.status_code == status, response.content
    assert response["Content-Type"] == (
        "application/json" if status == 200 else "application/problem+json"
    )
    return response.json()


def refused(path: str, status: int, **query: str) -> str:
    """The code of the refusal."""
    return str(get(path, status, **query)["code"])


def settled(player: UUID, rating: str, rd: str = "60", **more: Any) -> None:
    """Put a player on the leaderboard."""
    Rating.objects.create(
        pool=more.pop("pool", BLITZ),
        player=player,
        rating=Decimal(rating),
        rd=Decimal(rd),
        vol=Decimal("0.06"),
        games=9,
        wins=5,
        draws=1,
        losses=3,
        last_at_ms=START_MS,
        settled_until_ms=more.pop("settled_until_ms", LONG_AFTER_MS),
    )


class TestPlayerRatings:
    def test_show_every_pool_of_the_player(self, matches: FakeQueries) -> None:
        matches.finish(ANN, BEN, control="3+2")
        matches.finish(ANN, CAT, control="1+1", places=(1, 1))
        services.apply_finished()

        answer = get("players/Ann/ratings")

        blitz, bullet = answer["ratings"]
        assert answer["player"] == {"id": ANN.hex, "username": "ann"}
        assert {**blitz, "rd": None} == {
            "pool": BLITZ,
            "rating": "1662.310894",
            "rd": None,
            "vol": "0.059999675",
            "provisional": True,
            "games": 1,
            "wins": 1,
            "draws": 0,
            "losses": 0,
            "last_at_ms": START_MS,
        }
        assert (bullet["pool"], bullet["draws"]) == ("xqmj-32-2p-bullet", 1)

    def test_show_a_deviation_that_has_grown_since(self, matches: FakeQueries) -> None:
        matches.finish(ANN, BEN)
        services.apply_finished()

        (blitz,) = get("players/ann/ratings")["ratings"]

        # 290.318964 when rated; the match was in 2023.
        assert 291 < float(blitz["rd"]) <= 350

    @pytest.mark.usefixtures("matches")
    def test_are_none_without_a_rated_match(self) -> None:
        assert get("players/dan/ratings")["ratings"] == []

    @pytest.mark.usefixtures("matches")
    @pytest.mark.parametrize("name", ["nobody", "%00", "a" * 500, "%F0%9F%80%84"])
    def test_are_not_found_of_nobody(self, name: str) -> None:
        assert refused(f"players/{name}/ratings", 404) == "unknown_player"

    @pytest.mark.usefixtures("matches")
    def test_take_no_parameter(self) -> None:
        assert refused("players/ann/ratings", 400, pool=BLITZ) == "unknown_parameter"


class TestRatingHistory:
    def test_shows_what_each_match_did_newest_first(self, matches: FakeQueries) -> None:
        first = matches.finish(ANN, BEN)
        second = matches.finish(CAT, ANN)
        services.apply_finished()

        answer = get(f"players/ann/ratings/{BLITZ}/history")

        newest, oldest = answer["changes"]
        assert (answer["pool"], answer["next"]) == (BLITZ, None)
        assert oldest == {
            "match_id": first.match_id.hex,
            "at_ms": START_MS,
            "place": 1,
            "idle_ms": 0,
            "before": {"rating": "1500.000000", "rd": "350.000000", "vol": "0.060000000"},
            "after": {"rating": "1662.310894", "rd": "290.318964", "vol": "0.059999675"},
            "opponents": [
                {
                    "player": {"id": BEN.hex, "username": "ben"},
                    "place": 2,
                    "before": {"rating": "1500.000000", "rd": "350.000000", "vol": "0.060000000"},
                }
            ],
        }
        assert newest["match_id"] == second.match_id.hex
        assert newest["place"] == 2
        assert newest["idle_ms"] == MINUTE_MS
        assert newest["before"] == oldest["after"]

    def test_goes_on_by_cursor_without_gap_or_repeat(self, matches: FakeQueries) -> None:
        for _ in range(7):
            matches.finish(ANN, BEN)
            matches.finish(CAT, DAN)
        services.apply_finished()

        seen: list[int] = []
        sizes: list[int] = []
        more: dict[str, str] = {}
        while True:
            page = get(f"players/ben/ratings/{BLITZ}/history", 200, limit="3", **more)
            seen += [change["at_ms"] for change in page["changes"]]
            sizes.append(len(page["changes"]))
            if page["next"] is None:
                break
            more["cursor"] = page["next"]

        assert sizes == [3, 3, 1]
        assert seen == [START_MS + 2 * n * MINUTE_MS for n in range(6, -1, -1)]

    def test_names_the_three_others_of_a_table(self, matches: FakeQueries) -> None:
        matches.finish(ANN, BEN, CAT, DAN, places=(2, 1, 2, 4))
        services.apply_finished()
        del matches.names[CAT]

        (change,) = get(f"players/ann/ratings/{BLITZ}/history")["changes"]

        assert [(one["player"]["username"], one["place"]) for one in change["opponents"]] == [
            ("ben", 1),
            (None, 2),
            ("dan", 4),
        ]

    @pytest.mark.usefixtures("matches")
    def test_is_empty_in_a_pool_without_a_match(self) -> None:
        assert get(f"players/ann/ratings/{BLITZ}/history") == {
            "player": {"id": ANN.hex, "username": "ann"},
            "pool": BLITZ,
            "changes": [],
            "next": None,
        }

    @pytest.mark.usefixtures("matches")
    @pytest.mark.parametrize(
        "pool", ["xqmj-32-2p", "go-blitz", "%00", f"{BLITZ}%00", BLITZ.upper()]
    )
    def test_is_not_found_of_no_pool(self, pool: str) -> None:
        assert refused(f"players/ann/ratings/{pool}/history", 404) == "unknown_pool"

    @pytest.mark.usefixtures("matches")
    def test_is_not_found_of_nobody(self) -> None:
        assert refused(f"players/eve/ratings/{BLITZ}/history", 404) == "unknown_player"

    @pytest.mark.usefixtures("matches")
    @pytest.mark.parametrize(
        "query",
        [
            {"limit": "0"},
            {"limit": "101"},
            {"limit": "x"},
            {"limit": ""},
            {"limit": "9" * 900},
            {"cursor": "0"},
            {"cursor": "-1"},
            {"cursor": "1' OR 1=1"},
            {"cursor": "\0"},
            {"cursor": "12345678901"},
            {"cursor": ""},
        ],
    )
    def test_refuses_a_parameter_out_of_range(self, query: dict[str, str]) -> None:
        path = f"players/ann/ratings/{BLITZ}/history"

        assert refused(path, 400, **query) == "invalid_parameter"

    @pytest.mark.usefixtures("matches")
    def test_refuses_a_parameter_twice(self) -> None:
        path = f"players/ann/ratings/{BLITZ}/history?limit=1&limit=2"

        assert refused(path, 400) == "invalid_parameter"

    @pytest.mark.usefixtures("matches")
    def test_takes_the_largest_cursor_there_is(self) -> None:
        assert get(f"players/ann/ratings/{BLITZ}/history", cursor="9999999999")["changes"] == []


class TestLeaderboard:
    @pytest.mark.usefixtures("matches")
    def test_shows_the_best_first(self) -> None:
        settled(ANN, "1600")
        settled(BEN, "1700")
        settled(CAT, "1800", pool="xqmj-32-2p-rapid")

        answer = get(f"leaderboards/{BLITZ}")

        assert answer["pool"] == BLITZ
        assert [
            (one["rank"], one["player"]["username"], one["rating"]["rating"])
            for one in answer["players"]
        ] == [(1, "ben", "1700.000000"), (2, "ann", "1600.000000")]
        assert answer["players"][0]["player"] == {"id": BEN.hex, "username": "ben"}
        assert answer["players"][0]["rating"]["wins"] == 5

    @pytest.mark.usefixtures("matches")
    def test_orders_equals_by_certainty_then_by_id_and_ranks_them_alike(self) -> None:
        for player, rd in ((DAN, "60"), (CAT, "60"), (BEN, "70"), (ANN, "59.999999")):
            settled(player, "1600", rd)
        settled(UUID(int=9), "1599.999999")

        assert [
            (one["rank"], one["player"]["username"])
            for one in get(f"leaderboards/{BLITZ}")["players"]
        ] == [(1, "ann"), (1, "cat"), (1, "dan"), (1, "ben"), (5, None)]

    def test_leaves_out_the_provisional(self, matches: FakeQueries) -> None:
        matches.finish(ANN, BEN)
        services.apply_finished()
        settled(CAT, "1600")

        players = get(f"leaderboards/{BLITZ}")["players"]

        assert [one["player"]["username"] for one in players] == ["cat"]
        assert players[0]["rating"]["provisional"] is False

    @pytest.mark.usefixtures("matches")
    def test_leaves_out_who_has_become_provisional_by_idleness(self) -> None:
        settled(ANN, "1600", settled_until_ms=START_MS + 31_535_024_595)
        settled(BEN, "1500")

        players = get(f"leaderboards/{BLITZ}")["players"]

        assert [one["player"]["username"] for one in players] == ["ben"]
        (ann,) = get("players/ann/ratings")["ratings"]
        assert ann["provisional"] is True

    @pytest.mark.usefixtures("matches")
    def test_is_as_long_as_asked_for(self) -> None:
        for n in range(60):
            settled(UUID(int=100 + n), f"{1500 + n}")

        assert len(get(f"leaderboards/{BLITZ}")["players"]) == 50
        assert len(get(f"leaderboards/{BLITZ}", limit="7")["players"]) == 7

    @pytest.mark.usefixtures("matches")
    def test_is_empty_at_first(self) -> None:
        assert get(f"leaderboards/{BLITZ}") == {"pool": BLITZ, "players": []}

    @pytest.mark.usefixtures("matches")
    def test_is_not_found_of_no_pool(self) -> None:
        assert refused("leaderboards/go-blitz", 404) == "unknown_pool"

    @pytest.mark.usefixtures("matches")
    @pytest.mark.parametrize("limit", ["0", "101", "-1", "1.5", "ten"])
    def test_refuses_a_length_out_of_range(self, limit: str) -> None:
        assert refused(f"leaderboards/{BLITZ}", 400, limit=limit) == "invalid_parameter"


@pytest.mark.usefixtures("matches")
class TestPools:
    def test_are_listed_from_the_fastest(self) -> None:
        assert get("pools") == {
            "pools": [
                {
                    "pool": "xqmj-32-2p-bullet",
                    "ruleset": "xqmj-32-2p",
                    "speed": "bullet",
                    "controls": ["1+1"],
                },
                {
                    "pool": "xqmj-32-2p-blitz",
                    "ruleset": "xqmj-32-2p",
                    "speed": "blitz",
                    "controls": ["3+2"],
                },
                {
                    "pool": "xqmj-32-2p-rapid",
                    "ruleset": "xqmj-32-2p",
                    "speed": "rapid",
                    "controls": ["5+5"],
                },
            ]
        }


@pytest.mark.usefixtures("matches")
class TestEveryAddress:
    @pytest.mark.parametrize(
        "path",
        [
            "pools",
            f"leaderboards/{BLITZ}",
            "players/ann/ratings",
            f"players/ann/ratings/{BLITZ}/history",
        ],
    )
    @pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
    def test_only_reads(self, path: str, method: str) -> None:
        response = getattr(Client(), method)(f"/api/v1/{path}")

        assert response.status_code == 405
        assert response.json()["code"] == "method_not_allowed"

    def test_does_not_look_at_a_token(self) -> None:
        response = Client().get("/api/v1/pools", headers={"Authorization": "Bearer nonsense"})

        assert response.status_code == 200
