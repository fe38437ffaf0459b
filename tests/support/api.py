"""A client of the API for tests: in this process as a WSGI server would ask it, or over HTTP."""

from __future__ import annotations

import http.client
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit

from tests.support import wsgi

ROOT = "/api/v1"


@dataclass(frozen=True)
class Answer:
    """What came back; header names in lower case."""

    status: int
    headers: dict[str, str]
    raw: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.raw)

    @property
    def code(self) -> str | None:
        """The error code, None where there is none."""
        if "json" not in self.headers.get("content-type", ""):
            return None
        body = self.json
        return body.get("code") if isinstance(body, dict) else None


class Transport(Protocol):
    """Carries a request to the server and brings its answer."""

    def send(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> Answer: ...


class InProcess:
    """Through the web role's own WSGI application, without a socket."""

    def send(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> Answer:
        given = {name.lower(): value for name, value in headers.items()}
        content_type = given.pop("content-type", "" if body is None else "application/json")
        length = given.pop("content-length", None)
        extra: dict[str, Any] = {
            f"HTTP_{name.upper().replace('-', '_')}": text for name, text in given.items()
        }
        if length is not None:
            extra["CONTENT_LENGTH"] = length
        path, _, query = path.partition("?")
        answer = wsgi.send(method, path, body or b"", content_type, QUERY_STRING=query, **extra)
        found = {name.lower(): value for name, value in answer.headers}
        return Answer(answer.status, found, answer.body)


class OverHttp:
    """Over a connection of its own to a running server."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        assert parts.hostname is not None
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)

    def send(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> Answer:
        given = dict(headers)
        if body is not None:
            given.setdefault("Content-Type", "application/json")
        self._connection.request(method, path, body=body, headers=given)
        answer = self._connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, found, answer.read())

    def close(self) -> None:
        self._connection.close()


def fresh_name(prefix: str = "p") -> str:
    """A username that no other test has."""
    return f"{prefix}{secrets.token_hex(6)}"


@dataclass
class Api:
    """One client with, perhaps, a token."""

    transport: Transport
    token: str | None = None
    sent: int = field(default=0)

    def request(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send as it stands, with the token where there is one."""
        self.sent += 1
        given = dict(headers or {})
        if self.token is not None:
            given.setdefault("Authorization", f"Bearer {self.token}")
        return self.transport.send(
            method, path if path.startswith("/") else f"{ROOT}/{path}", given, body
        )

    def get(self, path: str, **headers: str) -> Answer:
        """Read; keyword arguments are headers with `_` for `-`."""
        return self.request(
            "GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )

    def post(self, path: str, body: Any = None, *, key: str | None = None) -> Answer:
        """Write, with a fresh idempotency key unless one is given."""
        return self.request(
            "POST",
            path,
            body=json.dumps({} if body is None else body).encode(),
            headers={"Idempotency-Key": key or secrets.token_hex(12)},
        )

    def patch(self, path: str, body: Any, *, key: str | None = None) -> Answer:
        """Change, with a fresh idempotency key unless one is given."""
        return self.request(
            "PATCH",
            path,
            body=json.dumps(body).encode(),
            headers={"Idempotency-Key": key or secrets.token_hex(12)},
        )

    def delete(self, path: str, *, key: str | None = None) -> Answer:
        """Delete, with a fresh idempotency key unless one is given."""
        return self.request(
            "DELETE", path, headers={"Idempotency-Key": key or secrets.token_hex(12)}
        )


@dataclass
class Player(Api):
    """A client with an account of its own."""

    id: str = ""
    username: str = ""

    def act(self, match_id: str, action: Mapping[str, Any], **more: Any) -> Answer:
        """Do something in the hand."""
        key = more.pop("key", None)
        return self.post(f"matches/{match_id}/act", {"action": action, **more}, key=key)

    def view(self, match_id: str) -> dict[str, Any]:
        """My view of the match; fails unless there is one."""
        answer = self.get(f"matches/{match_id}")
        assert answer.status == 200, answer.raw
        found: dict[str, Any] = answer.json["match"]
        return found


PASSWORD = "correct horse battery"


def registered(transport: Transport, username: str | None = None) -> Player:
    """A new account, logged in."""
    name = username or fresh_name()
    answer = Api(transport).post("auth/register", {"username": name, "password": PASSWORD})
    assert answer.status == 201, answer.raw
    found = answer.json
    return Player(transport, found["token"], id=found["player"]["id"], username=name)


def granted(player: Player, **more: Any) -> Any:
    """What the player is told of a new token of its own."""
    answer = player.post("tokens", {"name": "phone", **more})
    assert answer.status == 201, answer.raw
    return answer.json


def guest(transport: Transport) -> Player:
    """A new guest."""
    answer = Api(transport).post("auth/guest")
    assert answer.status == 201, answer.raw
    found = answer.json
    return Player(transport, found["token"], id=found["player"]["id"])


def created(maker: Player, **more: Any) -> str:
    """The id of a new match of this player."""
    body = {"ruleset": "xqmj-32-2p", "control": "3+2", **more}
    answer = maker.post("matches", body)
    assert answer.status == 201, answer.raw
    return str(answer.json["match"]["match_id"])


def sought(player: Player, **more: Any) -> str:
    """The id of a new seek of this player."""
    answer = player.post("seeks", {"ruleset": "xqmj-32-2p", "control": "3+2", **more})
    assert answer.status == 201, answer.raw
    return str(answer.json["seek"]["id"])


def challenged(player: Player, opponent: Player, **more: Any) -> str:
    """The id of a new challenge of this player."""
    body = {"ruleset": "xqmj-32-2p", "control": "3+2", "opponent": opponent.username, **more}
    answer = player.post("challenges", body)
    assert answer.status == 201, answer.raw
    return str(answer.json["challenge"]["id"])


def paired(one: Player, other: Player, **more: Any) -> str:
    """A new match in which both sit."""
    match_id = created(one, **more)
    answer = other.post(f"matches/{match_id}/join")
    assert answer.status == 200, answer.raw
    return match_id


def begun(one: Player, other: Player, **more: Any) -> str:
    """A new match whose first hand is dealt."""
    match_id = paired(one, other, **more)
    for player in (one, other):
        answer = player.post(f"matches/{match_id}/ready")
        assert answer.status == 200, answer.raw
    return match_id
