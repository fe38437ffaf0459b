"""Who may do what: every address, every method, everybody. A row that is missing fails."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from matches.models import Pairing
from matches.models import Player as PlayerRow
from tests.support import api
from tests.support.api import Answer, InProcess, Player

pytestmark = pytest.mark.django_db

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


class Row(NamedTuple):
    """The status that everybody gets; the match is a live one, its first hand just dealt."""

    anon: int
    stranger: int
    seat: int
    opponent: int
    staff: int
    superuser: int


def all_get(status: int) -> Row:
    """The same for everybody."""
    return Row(*[status] * 6)


KNOWN = Row(401, 200, 200, 200, 200, 200)
"""Whoever has a token; staff sees what a stranger sees."""
AT_THE_TABLE = Row(401, 403, 409, 409, 403, 403)
"""The two seats, whom the rules refuse; everybody else does not sit there."""

TABLE: dict[tuple[str, str], Row] = {
    ("root", "GET"): all_get(200),
    ("schema", "GET"): all_get(200),
    ("docs", "GET"): all_get(200),
    ("docs-script", "GET"): all_get(200),
    ("health", "GET"): all_get(200),
    ("readiness", "GET"): all_get(200),
    ("errors", "GET"): all_get(200),
    ("rulesets", "GET"): all_get(200),
    ("controls", "GET"): all_get(200),
    ("pools", "GET"): all_get(200),
    ("leaderboard", "GET"): all_get(200),
    ("player", "GET"): all_get(200),
    ("player-ratings", "GET"): all_get(200),
    ("rating-history", "GET"): all_get(200),
    ("register", "POST"): all_get(400),
    ("login", "POST"): all_get(401),
    ("guest", "POST"): all_get(201),
    ("upgrade", "POST"): Row(401, 400, 400, 400, 400, 400),
    ("logout", "POST"): Row(401, 204, 204, 204, 204, 204),
    ("me", "GET"): KNOWN,
    ("profile", "GET"): all_get(200),
    ("own-profile", "GET"): KNOWN,
    ("own-profile", "PATCH"): KNOWN,
    ("my-data", "GET"): KNOWN,
    ("close", "POST"): Row(401, 403, 403, 403, 403, 403),
    ("email", "GET"): KNOWN,
    ("email", "POST"): Row(401, 403, 403, 403, 403, 403),
    ("verify-email", "POST"): all_get(400),
    ("forgot", "POST"): all_get(202),
    ("reset", "POST"): all_get(400),
    ("bot", "POST"): Row(401, 200, 409, 409, 409, 409),
    ("password", "POST"): Row(401, 403, 403, 403, 403, 403),
    ("tokens", "GET"): KNOWN,
    ("tokens", "POST"): Row(401, 201, 201, 201, 201, 201),
    ("tokens", "DELETE"): Row(401, 204, 204, 204, 204, 204),
    ("token", "DELETE"): Row(401, 404, 204, 404, 404, 404),
    ("matches", "GET"): KNOWN,
    ("matches", "POST"): Row(401, 201, 201, 201, 201, 201),
    ("match", "GET"): KNOWN,
    ("events", "GET"): KNOWN,
    ("join", "POST"): Row(401, 409, 409, 409, 409, 409),
    ("ready", "POST"): AT_THE_TABLE,
    ("act", "POST"): AT_THE_TABLE,
    ("resign", "POST"): Row(401, 403, 200, 410, 410, 410),
    ("leave", "POST"): Row(401, 403, 200, 410, 410, 410),
    ("claim-absence", "POST"): AT_THE_TABLE,
    ("seeks", "GET"): KNOWN,
    ("seeks", "POST"): Row(401, 201, 201, 201, 201, 201),
    ("seek", "DELETE"): Row(401, 404, 204, 404, 404, 404),
    ("accept", "POST"): Row(401, 201, 409, 409, 409, 409),
    ("challenges", "GET"): KNOWN,
    ("challenges", "POST"): Row(401, 201, 201, 409, 201, 201),
    ("challenge", "DELETE"): Row(401, 404, 204, 404, 404, 404),
    ("accept-challenge", "POST"): Row(401, 404, 409, 201, 404, 404),
    ("decline-challenge", "POST"): Row(401, 404, 404, 200, 404, 404),
    ("pairing", "GET"): KNOWN,
    ("pairing", "POST"): Row(401, 201, 201, 201, 201, 201),
    ("pairing", "DELETE"): Row(401, 409, 409, 409, 409, 204),
    ("rematch", "GET"): Row(401, 403, 200, 200, 403, 403),
    ("rematch", "POST"): Row(401, 403, 409, 409, 403, 403),
    ("rematch", "DELETE"): Row(401, 403, 404, 404, 403, 403),
    ("replay", "GET"): all_get(409),
    ("export", "GET"): all_get(409),
    ("verifications", "POST"): all_get(200),
}
"""HEAD is GET without a body; every other method is refused with 405 to everybody."""

BODIES: dict[str, Any] = {
    "register": {"username": "x", "password": "y"},
    "upgrade": {"username": "x", "password": "y"},
    "login": {"username": "nobody-at-all", "password": "y"},
    "matches": {"ruleset": "xqmj-32-2p", "control": "3+2"},
    "act": {"action": {"type": "pass"}},
    "password": {"old": "not this one", "new": "another battery horse"},
    "tokens": {"name": "phone"},
    "own-profile": {"country": "TW"},
    "email": {"email": "a@example.org", "password": "not this one"},
    "verify-email": {"code": "x"},
    "forgot": {"email": "nobody@example.org"},
    "reset": {"code": "x", "password": "staple battery horse"},
    "close": {"password": "not this one"},
    "seeks": {"ruleset": "xqmj-32-2p", "control": "3+2"},
    "pairing": {"ruleset": "xqmj-32-2p", "control": "3+2"},
}
PATHS = {"pool": "xqmj-32-2p-blitz"}


def routes() -> dict[str, str]:
    """Every address of the API by its name, read off the resolver."""
    return dict(_walk(get_resolver().url_patterns, ""))


def _walk(patterns: list[Any], prefix: str) -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern) and path.startswith("api/"):
            assert pattern.name, f"{path} has no name"
            yield pattern.name, "/" + path


class Cast:
    """Everybody, and a match of two of them."""

    def __init__(self) -> None:
        transport = InProcess()
        self.anon = Player(transport)
        self.stranger, self.seat, self.opponent, self.staff, self.superuser = (
            api.registered(transport) for _ in range(5)
        )
        rows = PlayerRow.objects
        rows.filter(username=self.staff.username).update(is_staff=True)
        rows.filter(username=self.superuser.username).update(is_staff=True, is_superuser=True)
        self.match_id = api.begun(self.seat, self.opponent)
        self.seek_id = api.sought(self.seat)
        self.token_id = api.granted(self.seat)["shown"]["id"]
        self.bodies = {
            **BODIES,
            "challenges": {**BODIES["seeks"], "opponent": self.opponent.username},
        }
        self.challenge_id = api.challenged(self.seat, self.opponent)

    def send(self, who: str, method: str, route: str, name: str) -> Answer:
        path = route
        filled = {
            **PATHS,
            "match_id": self.match_id,
            "seek_id": self.seek_id,
            "challenge_id": self.challenge_id,
            "token_id": self.token_id,
            "username": self.seat.username,
        }
        for key, value in filled.items():
            for form in (f"<id:{key}>", f"<str:{key}>"):
                path = path.replace(form, value)
        player: Player = getattr(self, who)
        body = None
        if method in ("POST", "PUT", "PATCH"):
            body = json.dumps(self.bodies.get(name, {})).encode()
        headers = {"Idempotency-Key": secrets.token_hex(8)}
        return player.request(method, path, body=body, headers=headers)


class TestMatrix:
    def test_has_a_row_for_every_address(self) -> None:
        assert {name for name, _ in TABLE} == set(routes())

    @pytest.mark.parametrize("name", sorted({name for name, _ in TABLE}))
    def test_holds(self, name: str) -> None:
        cast, route = Cast(), routes()[name]
        if name == "seeks":
            # One open seek a player: it has to be free to open another.
            cast.seat.delete(f"seeks/{cast.seek_id}")
        if name == "challenges":
            # And one open challenge a pair.
            cast.seat.delete(f"challenges/{cast.challenge_id}")
        # Of the five who come two and two are paired: nobody else may wait.
        Pairing.objects.all().delete()

        for method in METHODS:
            row = TABLE.get((name, "GET" if method == "HEAD" else method), all_get(405))
            # Logging out would leave the others' tokens, but resigning ends the match: in order.
            found = Row(*(cast.send(who, method, route, name).status for who in Row._fields))
            assert found == row, f"{method} {route}"


class TestHiddenMatch:
    """A match that is kept for somebody else answers in the very bytes of one that is not there."""

    @pytest.mark.parametrize("who", ["stranger", "staff", "superuser"])
    @pytest.mark.parametrize("name", [name for name, _ in TABLE if "match_id" in routes()[name]])
    def test_is_as_one_that_is_not_there(self, who: str, name: str) -> None:
        cast, route = Cast(), routes()[name]
        method = "POST" if (name, "POST") in TABLE else "GET"
        cast.match_id = api.created(cast.seat, opponent=cast.opponent.username)
        hidden = cast.send(who, method, route, name)
        cast.match_id = secrets.token_hex(16)
        missing = cast.send(who, method, route, name)

        assert hidden.status == missing.status == 404
        assert hidden.raw == missing.raw
        for answer in (hidden, missing):
            del answer.headers["x-request-id"]
        assert hidden.headers == missing.headers


class TestStaff:
    def test_sees_of_a_live_match_what_a_stranger_sees(self) -> None:
        cast = Cast()
        bodies = [
            getattr(cast, who).get(f"matches/{cast.match_id}") for who in ("stranger", "staff")
        ]

        assert bodies[0].json["match"] == bodies[1].json["match"]
        assert bodies[0].headers["etag"] == bodies[1].headers["etag"]
