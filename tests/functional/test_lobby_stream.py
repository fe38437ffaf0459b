"""The lobby's stream, over real sockets: the open seeks, and what becomes of them."""

from __future__ import annotations

import http.client
import json
from typing import Any

import pytest

from tests.support.api import InProcess, Player, guest, registered
from tests.support.serving import Serving
from tests.support.sockets import Socket

pytestmark = pytest.mark.django_db

MATCH = {"ruleset": "xqmj-32-2p", "control": "3+2"}


def opened(player: Player) -> dict[str, Any]:
    """A seek of the player as REST shows it."""
    found: dict[str, Any] = player.post("seeks", MATCH).json["seek"]
    return found


def told(socket: Socket, seek_id: str) -> dict[str, Any]:
    """The next line about a seek."""
    while True:
        line = socket.line()
        if line.get("id") == seek_id:
            return line


class TestLobbyStream:
    def test_tells_of_seeks_that_are_open_opened_accepted_and_closed(self, live: Serving) -> None:
        watcher, (one, two, three) = guest(InProcess()), [registered(InProcess()) for _ in "abc"]
        before = opened(one)
        socket = Socket(live.port, "/live/v1/lobby", token=watcher.token)
        snapshot = {thing["id"]: thing for thing in socket.line()["snapshot"]}

        then = opened(two)
        first = told(socket, then["id"])
        three.post(f"seeks/{before['id']}/accept")
        accepted = told(socket, before["id"])
        assert two.delete(f"seeks/{then['id']}").status == 204
        closed = told(socket, then["id"])
        socket.close()

        assert snapshot[before["id"]] == {"kind": "seek", "id": before["id"], "data": before}
        assert first == {"kind": "seek", "id": then["id"], "data": then}
        assert accepted == {"kind": "seek", "id": before["id"], "data": None}
        assert closed == {"kind": "seek", "id": then["id"], "data": None}

    def test_is_the_same_over_http(self, live: Serving) -> None:
        one = registered(InProcess())
        seek = opened(one)
        connection = http.client.HTTPConnection("127.0.0.1", live.port, timeout=10)
        connection.request(
            "GET", "/live/v1/lobby", headers={"Authorization": f"Bearer {one.token}"}
        )

        found = json.loads(connection.getresponse().readline())["snapshot"]
        connection.close()

        assert {"kind": "seek", "id": seek["id"], "data": seek} in found

    def test_is_for_players_only(self, live: Serving) -> None:
        assert Socket(live.port, "/live/v1/lobby").code() == 4401
