"""A command is answered without Django's handler as it would be with it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.core.signals import request_started
from django.core.wsgi import get_wsgi_application

from matches.api.moves import Moves
from matches.services import execute
from matches.services.errors import unavailable
from tests.support import api, sitting
from tests.support.api import InProcess, Player

pytestmark = pytest.mark.django_db

Told = tuple[str, dict[str, str], bytes]
DISCARD = {"type": "discard", "tile": "rC", "drawn": False}


@pytest.fixture
def table() -> tuple[Player, Player, str]:
    """Two players, and a match whose first hand is dealt."""
    one, other = (api.registered(InProcess()) for _ in range(2))
    return one, other, api.begun(one, other)


def ask(
    application: Any, path: str, *, token: str | None = None, body: bytes = b"", **more: Any
) -> Told:
    """What a WSGI server would send: status, headers but for id and time, body."""
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": path,
        "QUERY_STRING": "",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "8000",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": "localhost",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": io.StringIO(),
        "wsgi.url_scheme": "http",
        **({} if token is None else {"HTTP_AUTHORIZATION": f"Bearer {token}"}),
        **more,
    }
    told: list[Any] = []
    answer = application(environ, lambda *start: told.extend(start))
    raw = b"".join(answer)
    if hasattr(answer, "close"):
        answer.close()
    headers = dict(told[1])
    headers.pop("X-Request-Id", None)
    headers.pop("X-Server-Time-Ms", None)
    return told[0], headers, raw


def both(path: str, **more: Any) -> tuple[Told, Told]:
    """The same request to both; the second is a repetition."""
    handler = get_wsgi_application()
    return ask(Moves(handler), path, **more), ask(handler, path, **more)


def done(path: str, player: Player, body: dict[str, Any]) -> dict[str, Any]:
    """What both say of a command that succeeds: the same but for the time."""
    more = {"body": json.dumps(body).encode(), "HTTP_IDEMPOTENCY_KEY": uuid4().hex}
    mine, theirs = both(path, token=player.token, **more)
    assert mine[:2] == theirs[:2]
    assert mine[0] == "200 OK", mine[2]
    said, repeated = json.loads(mine[2]), json.loads(theirs[2])
    assert {**said, "now": None} == {**repeated, "now": None}
    found: dict[str, Any] = said
    return found


class TestMoves:
    def test_join_as_django_would(self, table: tuple[Player, Player, str]) -> None:
        one, other, _ = table
        path = f"/api/v1/matches/{api.created(one)}/join"

        (event,) = done(path, other, {})["events"]

        assert (event["kind"], event["actor"]) == ("match.seat_taken", 1)

    def test_act_as_django_would(
        self, rigged: Callable[[tuple[str, ...]], None], table: tuple[Player, Player, str]
    ) -> None:
        rigged(sitting.NOTHING_OFFERED)
        one, other, _ = table
        path = f"/api/v1/matches/{api.begun(one, other)}/act"

        (event,) = done(path, one, {"action": DISCARD})["events"]

        assert (event["kind"], event["data"]["tile"]) == ("xqmj.tile_discarded", "rC")

    def test_resign_as_django_would(self, table: tuple[Player, Player, str]) -> None:
        one, _, match_id = table

        (event,) = done(f"/api/v1/matches/{match_id}/resign", one, {})["events"]

        assert (event["kind"], event["data"]["winner"]) == ("match.ended", 1)

    @pytest.mark.parametrize(
        "more",
        [
            {},
            {"REQUEST_METHOD": "GET"},
            {"REQUEST_METHOD": "DELETE"},
            {"REQUEST_METHOD": "HEAD"},
            {"HTTP_HOST": "elsewhere.example"},
            {"HTTP_AUTHORIZATION": "Bearer nobody"},
            {"QUERY_STRING": "a=1"},
            {"HTTP_ACCEPT": "text/html"},
        ],
    )
    @pytest.mark.parametrize("what", ["act", "join", "ready", "resign", "leave", "claim-absence"])
    def test_refuse_as_django_would(
        self, table: tuple[Player, Player, str], what: str, more: dict[str, str]
    ) -> None:
        _, _, match_id = table

        mine, theirs = both(f"/api/v1/matches/{match_id}/{what}", **more)

        assert mine == theirs
        assert mine[0][0] == "4"

    @pytest.mark.parametrize("body", [b"", b"{", b'{"action":1}', b'{"more":1}', b"[" * 40])
    def test_refuse_a_body_as_django_would(
        self, table: tuple[Player, Player, str], body: bytes
    ) -> None:
        one, _, match_id = table
        path = f"/api/v1/matches/{match_id}/act"

        mine, theirs = both(path, token=one.token, body=body, HTTP_IDEMPOTENCY_KEY=uuid4().hex)

        assert mine == theirs
        assert mine[0] == "400 Bad Request"

    @pytest.mark.parametrize(
        "path",
        [
            "/api/v1/matches/{id}",
            "/api/v1/matches/{id}/act/",
            "/api/v1/matches/{id}/events",
            "/api/v1/matches/0-0/act",
            "/api/v1/health",
            "/",
        ],
    )
    def test_leave_everything_else_to_django(
        self, table: tuple[Player, Player, str], path: str
    ) -> None:
        heard: list[str] = []
        listen = lambda environ, **_: heard.append(environ["PATH_INFO"])  # noqa: E731
        path = path.format(id=table[2])
        request_started.connect(listen)
        try:
            mine, theirs = both(path, REQUEST_METHOD="GET")
        finally:
            request_started.disconnect(listen)

        assert mine[:1] == theirs[:1]
        assert heard == [path, path]

    def test_leave_a_line_in_the_log_where_the_service_failed(
        self,
        table: tuple[Player, Player, str],
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        one, _, match_id = table
        path = f"/api/v1/matches/{match_id}/resign"

        def away(**_: Any) -> None:
            raise unavailable()

        monkeypatch.setattr(execute, "execute", away)
        mine, theirs = both(path, token=one.token, body=b"{}", HTTP_IDEMPOTENCY_KEY=uuid4().hex)

        assert mine == theirs
        assert mine[0] == "503 Service Unavailable"
        lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
        assert [line["event"] for line in lines] == [f"Service Unavailable: {path}"] * 2
        assert all(line["request_id"] for line in lines)

    def test_are_not_announced(self, table: tuple[Player, Player, str]) -> None:
        heard: list[str] = []
        listen = lambda environ, **_: heard.append(environ["PATH_INFO"])  # noqa: E731
        request_started.connect(listen)
        try:
            both(f"/api/v1/matches/{table[2]}/act")
        finally:
            request_started.disconnect(listen)

        assert len(heard) == 1


class TestTransport:
    def test_of_the_tests_goes_the_way_of_production(
        self, table: tuple[Player, Player, str]
    ) -> None:
        one, _, match_id = table
        heard: list[str] = []
        listen = lambda environ, **_: heard.append(environ["PATH_INFO"])  # noqa: E731
        request_started.connect(listen)
        try:
            assert one.post(f"matches/{match_id}/resign").status == 200
            assert one.get("me").status == 200
        finally:
            request_started.disconnect(listen)

        assert heard == ["/api/v1/me"]
