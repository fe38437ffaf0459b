"""Every bad request is refused with its code, and nothing is changed by it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from matches.models import Pairing
from matches.services.codes import TABLE
from tests.functional.bad_requests import (
    Bad,
    accounts,
    challenges,
    headers,
    json_bodies,
    lobby,
    matches,
    play,
    reads,
)
from tests.support import ahead, api
from tests.support.api import Answer, InProcess, Player

pytestmark = pytest.mark.django_db

MODULES = (json_bodies, headers, accounts, matches, challenges, lobby, play, reads)
CASES = [
    pytest.param(case, id=f"{module.__name__.rpartition('.')[2]}: {case.name} [{number}]")
    for module in MODULES
    for number, case in enumerate(module.CASES)
]


class World:
    """Players and matches that no bad request may change."""

    def __init__(self) -> None:
        transport = InProcess()
        self.ada, self.bob = api.registered(transport), api.registered(transport)
        self.eve, other = api.registered(transport), api.registered(transport)
        self.guest = api.guest(transport)
        self.anon = Player(transport)
        live = self._begun()
        ended, again = (api.begun(self.ada, self.bob) for _ in range(2))
        for match_id in (ended, again):
            assert self.ada.post(f"matches/{match_id}/resign").status == 200
        for player in (self.ada, self.bob):
            assert player.post(f"matches/{again}/rematch").status == 201
        aborted = api.paired(self.ada, self.bob)
        assert self.ada.post(f"matches/{aborted}/leave").status == 200
        hidden = api.created(other, opponent=self.eve.username)
        view = self.ada.view(live)
        seats = (self.ada, self.bob)
        self.mover, self.waiter = seats[view["dealer"]], seats[1 - view["dealer"]]
        held = self.mover.view(live)["hand"]["sides"][view["dealer"]]["concealed"]
        tiles = ("rK", "rA", "rE", "rR", "rH", "rC", "rP", "bK", "bA", "bE", "bR", "bH", "bC", "bP")
        waits = {"ruleset": "xqmj-32-2p", "control": "1+1"}
        Pairing.objects.all().delete()
        assert self.eve.post("pairing", waits).status == 201
        self.names = {
            "live": live,
            "open": api.created(self.ada),
            "kept": api.created(self.ada, opponent=self.bob.username),
            "rated": api.created(self.ada, rated=True),
            "paired": api.paired(self.ada, self.bob),
            "ended": ended,
            "again": again,
            "aborted": aborted,
            "hidden": hidden,
            "missing": secrets.token_hex(16),
            "seek": api.sought(self.ada),
            "rated_seek": api.sought(self.eve, rated=True),
            "low_seek": api.sought(other, rating_max=1200),
            "taken_seek": self._taken(),
            "challenge": api.challenged(self.ada, self.bob),
            "rated_challenge": api.challenged(self.eve, self.ada, rated=True),
            "declined": self._declined(),
            "held": held[0],
            "bob": self.bob.username,
            "absent": next(tile for tile in tiles if tile not in held),
            "ada": self.ada.username,
            "eve": self.eve.username,
            "ADA": self.ada.username.upper(),
        }

    def _taken(self) -> str:
        """A seek of bob's that somebody accepted."""
        seek_id = api.sought(self.bob)
        taker = api.registered(InProcess())
        assert taker.post(f"seeks/{seek_id}/accept").status == 201
        return seek_id

    def _declined(self) -> str:
        """A challenge of bob's to eve that she declined."""
        challenge_id = api.challenged(self.bob, self.eve)
        assert self.eve.post(f"challenges/{challenge_id}/decline").status == 200
        return challenge_id

    def _begun(self) -> str:
        """A match in its first hand, whose dealer was not dealt a win."""
        while True:
            match_id = api.begun(self.ada, self.bob)
            seats = (self.ada, self.bob)
            legal = seats[self.ada.view(match_id)["dealer"]].view(match_id)["legal"]
            if {"type": "win"} not in legal:
                return match_id

    def player(self, who: str) -> Player:
        found: Player = getattr(self, who)
        return found

    def send(self, bad: Bad) -> Answer:
        given = {name: self._filled(value) for name, value in bad.headers.items()}
        if bad.key:
            given.setdefault("Idempotency-Key", secrets.token_hex(12))
        return self.player(bad.who).request(
            bad.method, self._filled(bad.path), body=self._body(bad.body), headers=given
        )

    def _body(self, body: Any) -> bytes | None:
        if body is None or isinstance(body, bytes):
            return body
        return self._filled(json.dumps(body)).encode()

    def _filled(self, text: str) -> str:
        for name, value in self.names.items():
            text = text.replace("{" + name + "}", value)
        return text

    def facts(self) -> dict[str, Any]:
        """What a bad request might have changed."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM matches_player")
            players = cursor.fetchone()
            cursor.execute("SELECT count(*) FROM knox_authtoken")
            tokens = cursor.fetchone()
            cursor.execute("SELECT count(*), sum(version) FROM es.match_head")
            heads = cursor.fetchone()
            cursor.execute("SELECT count(*) FROM es.match_event")
            events = cursor.fetchone()
            cursor.execute("SELECT count(*) FROM matches_writekey")
            keys = cursor.fetchone()
            cursor.execute("SELECT count(*), count(taken_by) FROM matches_seek")
            found = cursor.fetchone()
            cursor.execute("SELECT count(*), count(taken_by) FROM matches_rematch")
            rematches = cursor.fetchone()
            cursor.execute("SELECT count(*), count(match_id) FROM matches_pairing")
            waits = cursor.fetchone()
            cursor.execute(
                "SELECT count(*), count(taken_by), count(declined) FROM matches_challenge"
            )
            asked = cursor.fetchone()
        return {
            "seeks": found,
            "waits": waits,
            "challenges": asked,
            "rematches": rematches,
            "players": players,
            "tokens": tokens,
            "heads": heads,
            "events": events,
            "keys": keys,
        }


@pytest.fixture(scope="module")
def world(servers: object, django_db_blocker: Any) -> Iterator[World]:  # noqa: ARG001
    # The clock stands still: the matches stay as they are however long the list takes.
    with django_db_blocker.unblock(), ahead.clock():
        yield World()


class TestBadRequest:
    @pytest.mark.parametrize("bad", CASES)
    def test_is_refused_and_changes_nothing(self, world: World, bad: Bad) -> None:
        before = world.facts()

        answer = world.send(bad)

        if bad.method == "HEAD":
            assert answer.status == bad.status
        else:
            assert (answer.status, answer.code) == (bad.status, bad.code), answer.raw[:300]
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json["type"] == f"/api/v1/errors#{bad.code}"
            assert answer.json["status"] == bad.status
        assert world.facts() == before

    def test_is_one_of_three_hundred_at_least(self) -> None:
        assert len(CASES) >= 300

    def test_has_the_status_of_the_table(self) -> None:
        for module in MODULES:
            for case in module.CASES:
                assert TABLE[case.code].status == case.status, case.name
