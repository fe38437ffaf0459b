"""A player's own stream, over real sockets: a snapshot, and then whatever changes."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from knox.models import AuthToken

from matches.services import tokens
from ratings.services import apply_finished
from tests.support.api import Answer, Api, InProcess, Player, begun, registered
from tests.support.live import Live
from tests.support.serving import Serving
from tests.support.sockets import Socket

pytestmark = pytest.mark.django_db

MATCH = {"ruleset": "xqmj-32-2p", "control": "3+2"}

Open = Callable[..., Socket]


@pytest.fixture
def opened(live: Serving) -> Iterator[Open]:
    """Opens players' own sockets, which are closed at the end."""
    sockets: list[Socket] = []

    def open_(player: Player | None, query: str = "", **options: Any) -> Socket:
        token = None if player is None else player.token
        socket = Socket(live.port, f"/live/v1/me{query}", token=token, **options)
        sockets.append(socket)
        return socket

    yield open_
    for socket in sockets:
        socket.close()


@pytest.fixture
def pair() -> tuple[Player, Player]:
    """Two players."""
    return registered(InProcess()), registered(InProcess())


def things(socket: Socket) -> dict[tuple[str, str], Any]:
    """The snapshot that a socket begins with."""
    first = socket.line()
    assert list(first) == ["snapshot"]
    return {(one["kind"], one["id"]): one["data"] for one in first["snapshot"]}


def told(socket: Socket, kind: str) -> dict[str, Any]:
    """The next line about a kind of thing."""
    while True:
        line = socket.line()
        assert list(line) == ["kind", "id", "data"]
        if line["kind"] == kind:
            return line


class TestMyStream:
    def test_begins_with_nothing(self, opened: Open, pair: tuple[Player, Player]) -> None:
        assert things(opened(pair[0])) == {}

    def test_tells_of_a_challenge_its_match_turns_end_and_rating(
        self, opened: Open, pair: tuple[Player, Player]
    ) -> None:
        one, two = pair
        socket = opened(two)
        assert things(socket) == {}

        made = one.post("challenges", {**MATCH, "opponent": two.username, "rated": True})
        challenge_id = made.json["challenge"]["id"]
        asked = told(socket, "challenge")
        match_id = two.post(f"challenges/{challenge_id}/accept").json["match"]["match_id"]
        began, accepted = told(socket, "match"), told(socket, "challenge")
        for player in pair:
            assert player.post(f"matches/{match_id}/ready").status == 200
        dealt = told(socket, "match")
        assert one.post(f"matches/{match_id}/resign").status == 200
        ended = told(socket, "match")
        apply_finished()
        rated = told(socket, "rating")

        assert (asked["id"], asked["data"]["player"]["username"]) == (challenge_id, one.username)
        assert asked["data"]["match_id"] is None
        assert accepted["data"]["match_id"] == began["id"] == match_id
        assert (began["data"]["phase"], began["data"]["your_turn"]) == ("readying", False)
        assert began["data"]["opponent"]["id"] == one.id
        you = two.view(match_id)["you"]
        assert dealt["data"]["phase"] == "playing"
        assert ended["data"] == {
            "you": you,
            "opponent": began["data"]["opponent"],
            "phase": "ended",
            "your_turn": False,
            "reason": "resignation",
            "winner": you,
        }
        assert rated["data"]["rating"] > 1500

    def test_tells_whose_turn_it_is(self, opened: Open, pair: tuple[Player, Player]) -> None:
        match_id = begun(*pair)
        first = pair[0].view(match_id)["clocks"]["running"]
        mover, other = pair[first], pair[1 - first]

        mine, theirs = (things(opened(one))["match", match_id] for one in (mover, other))
        socket = opened(other)
        things(socket)
        (discard, *_) = [one for one in mover.view(match_id)["legal"] if one["type"] == "discard"]
        assert mover.act(match_id, discard).status == 200

        assert (mine["your_turn"], theirs["your_turn"]) == (True, False)
        assert told(socket, "match")["data"]["your_turn"] is True

    def test_loses_nothing_over_a_cut(self, opened: Open, pair: tuple[Player, Player]) -> None:
        one, two = pair
        socket = opened(two)
        things(socket)
        socket.cut()

        made = one.post("challenges", {**MATCH, "opponent": two.username})
        declined = one.post("challenges", {**MATCH, "opponent": two.username})

        found = things(opened(two))
        assert [kind for kind, _ in found] == ["challenge"]
        assert found["challenge", made.json["challenge"]["id"]]["declined"] is None
        assert declined.code == "challenge_open"

    def test_tells_of_a_challenge_declined_and_of_one_withdrawn(
        self, opened: Open, pair: tuple[Player, Player]
    ) -> None:
        one, two = pair
        socket = opened(one)
        things(socket)
        first = one.post("challenges", {**MATCH, "opponent": two.username}).json["challenge"]["id"]
        assert told(socket, "challenge")["id"] == first
        two.post(f"challenges/{first}/decline", {"reason": "later"})
        assert told(socket, "challenge")["data"]["declined"] == "later"

        second = one.post("challenges", {**MATCH, "opponent": two.username}).json["challenge"]["id"]
        assert told(socket, "challenge")["id"] == second
        assert one.delete(f"challenges/{second}").status == 204

        assert told(socket, "challenge") == {"kind": "challenge", "id": second, "data": None}

    def test_tells_of_a_seek_that_is_accepted(
        self, opened: Open, pair: tuple[Player, Player]
    ) -> None:
        one, two = pair
        socket = opened(one)
        things(socket)
        seek_id = one.post("seeks", MATCH).json["seek"]["id"]
        assert told(socket, "seek")["data"]["match_id"] is None

        match_id = two.post(f"seeks/{seek_id}/accept").json["match"]["match_id"]

        assert told(socket, "seek")["data"]["match_id"] == match_id

    def test_tells_nothing_of_others(self, opened: Open, pair: tuple[Player, Player]) -> None:
        one, two = pair
        stranger = registered(InProcess())
        socket = opened(stranger)
        things(socket)

        one.post("challenges", {**MATCH, "opponent": two.username})
        begun(one, two)
        time.sleep(2.5)
        stranger.post("seeks", MATCH)

        assert socket.line()["kind"] == "seek"

    def test_is_the_same_over_http(self, live: Serving, pair: tuple[Player, Player]) -> None:
        one, two = pair
        made = one.post("challenges", {**MATCH, "opponent": two.username})
        connection = http.client.HTTPConnection("127.0.0.1", live.port, timeout=10)
        connection.request("GET", "/live/v1/me", headers={"Authorization": f"Bearer {two.token}"})
        answer = connection.getresponse()

        first = json.loads(answer.readline())
        one.delete(f"challenges/{made.json['challenge']['id']}")
        second = json.loads(answer.readline())
        connection.close()

        assert answer.getheader("content-type") == "application/x-ndjson"
        assert [thing["kind"] for thing in first["snapshot"]] == ["challenge"]
        assert second == {"kind": "challenge", "id": first["snapshot"][0]["id"], "data": None}

    def test_ends_when_its_token_is_revoked(
        self, opened: Open, pair: tuple[Player, Player]
    ) -> None:
        socket = opened(pair[0])
        things(socket)

        AuthToken.objects.filter(digest=tokens.digest_of(pair[0].token or "")).delete()
        began_s = time.monotonic()

        assert socket.code() == 4401
        assert time.monotonic() - began_s < 5

    def test_takes_no_command(self, opened: Open, pair: tuple[Player, Player]) -> None:
        socket = opened(pair[0])
        things(socket)

        answer = socket.answer('{"id": "k", "command": "resign"}', None)

        assert answer["problem"]["code"] == "method_not_allowed"

    def test_is_refused(self, opened: Open, pair: tuple[Player, Player]) -> None:
        assert opened(None).code() == 4401
        assert opened(pair[0], "?after=1").code() == 4400
        assert opened(pair[0], "?token=x").code() == 4400
        assert opened(pair[0], origin="https://evil.example").code() == 4403

    @pytest.mark.parametrize(
        ("query", "token", "status"), [("", None, 401), ("", "no", 401), ("?after=1", "me", 400)]
    )
    def test_is_refused_over_http(
        self, pair: tuple[Player, Player], query: str, token: str | None, status: int
    ) -> None:
        answer: Answer = Api(Live(), pair[0].token if token == "me" else token).get(
            f"/live/v1/me{query}"
        )

        assert answer.status == status
        assert answer.headers["content-type"] == "application/problem+json"
