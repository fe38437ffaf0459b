"""How often one may ask, and what is answered while a server beside ours is away."""

from __future__ import annotations

import io
import json
import logging
from typing import Any
from urllib.parse import urlencode

import pytest
import redis
from django.contrib.auth import get_user_model
from django.db import OperationalError

from matches.api import health
from matches.eventstore import pool
from matches.eventstore.pool import Unavailable
from matches.services import accounts, throttling, tokens
from matches.services.throttling import Throttle
from tests.support import api
from tests.support.api import PASSWORD, Answer, Api, InProcess, Player
from xqmj_site import logs

pytestmark = pytest.mark.django_db

# Some tests only ask for the documented limits, or for a server to be away.
# ruff: noqa: ARG002


@pytest.fixture
def limited(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Settings with the documented limits, and a process that has counted nothing yet."""
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        for key in client.scan_iter("xqmj:throttle:*"):
            client.delete(key)
    settings.XQMJ_THROTTLES = {}
    fresh = Throttle()
    monkeypatch.setattr(throttling.throttle, "_leases", fresh._leases)
    monkeypatch.setattr(throttling.throttle, "_scripts", fresh._scripts)
    monkeypatch.setattr(throttling.throttle, "_broken_until", 0.0)
    return settings


LOGIN = {"username": "nobody-at-all", "password": "x" * 12}


class TestLimit:
    def test_of_log_ins_is_ten_a_minute(self, limited: Any) -> None:
        answers = [Api(InProcess()).post("auth/login", LOGIN) for _ in range(11)]

        assert [answer.status for answer in answers] == [401] * 10 + [429]
        assert answers[-1].code == "too_many_requests"
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 60

    def test_of_log_ins_counts_a_name_wherever_it_is_tried_from(self, limited: Any) -> None:
        limited.XQMJ_NUM_PROXIES = 1

        codes = [self.tried(n, "Victim") for n in range(11)]

        assert codes == ["bad_credentials"] * 10 + ["too_many_requests"]

    def test_of_log_ins_counts_every_spelling_of_a_name(self, limited: Any) -> None:
        limited.XQMJ_NUM_PROXIES = 1
        spellings = ("victim", "VICTIM", "\uff36\uff49\uff43\uff54\uff49\uff4d", "vict\u2170m")

        codes = [self.tried(n, spellings[n % 4]) for n in range(11)]

        assert codes == ["bad_credentials"] * 10 + ["too_many_requests"]

    def tried(self, n: int, name: str) -> str | None:
        """What a wrong password for the name answers, from the n-th address."""
        return (
            Api(InProcess())
            .request(
                "POST",
                "auth/login",
                body=json.dumps({"username": name, "password": "x" * 12}).encode(),
                headers={"Idempotency-Key": f"attempt-{n:08}", "X-Forwarded-For": f"10.0.0.{n}"},
            )
            .code
        )

    def test_is_not_dodged_by_a_made_up_address(self, limited: Any) -> None:
        def tried(n: int) -> int:
            headers = {"Idempotency-Key": f"attempt-{n:08}", "X-Forwarded-For": f"10.0.0.{n}"}
            return Api(InProcess()).request("POST", "auth/guest", headers=headers).status

        assert [tried(n) for n in range(11)] == [201] * 10 + [429]

    def test_of_matches_is_sixty_a_minute(self, limited: Any) -> None:
        ada = api.registered(InProcess())
        body = {"ruleset": "none", "control": "3+2"}

        answers = [ada.post("matches", body).status for _ in range(61)]

        assert answers == [400] * 60 + [429]

    def test_is_each_accounts_own(self, limited: Any) -> None:
        limited.XQMJ_THROTTLES = {"read": "2/60"}
        ada, bob = api.registered(InProcess()), api.registered(InProcess())

        assert [ada.get("me").status for _ in range(3)] == [200, 200, 429]
        assert bob.get("me").status == 200

    def test_of_moves_is_six_hundred_a_minute(self, limited: Any) -> None:
        ada = api.registered(InProcess())

        # As many requests would not be answered in a minute on a busy machine.
        for _ in range(599):
            throttling.throttle.spend("play", ada.id)

        assert ada.post(f"matches/{'0' * 32}/leave").status == 404
        assert ada.post(f"matches/{'0' * 32}/leave").status == 429

    def test_does_not_hold_for_whoever_watches_the_server(self, limited: Any) -> None:
        limited.XQMJ_THROTTLES = {"address": "2/60"}

        assert {Api(InProcess()).get("health").status for _ in range(9)} == {200}


class TestStaffLogIn:
    """The admin's form, which is no part of the API."""

    def tried(self, name: str, *, password: str = "x" * 12, address: str = "10.1.0.1") -> Answer:
        """What the form answers to a password for the name, from an address."""
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Forwarded-For": address,
            "Cookie": f"csrftoken={'c' * 32}",
            "X-CSRFToken": "c" * 32,
        }
        form = urlencode({"username": name, "password": password}).encode()
        return InProcess().send("POST", "/admin/login/", headers, form)

    def test_is_limited_to_ten_a_minute_of_an_address(self, limited: Any) -> None:
        answers = [self.tried(f"nobody-{n}") for n in range(11)]

        assert [answer.status for answer in answers] == [200] * 10 + [429]
        assert answers[-1].code == "too_many_requests"
        assert 1 <= int(answers[-1].headers["retry-after"]) <= 60

    def test_is_limited_to_ten_a_minute_of_a_name_however_it_is_spelt(self, limited: Any) -> None:
        limited.XQMJ_NUM_PROXIES = 1
        spellings = ("victim", "VICTIM", " victim", "vict\u2170m")

        answers = [self.tried(spellings[n % 4], address=f"10.1.0.{n}") for n in range(11)]

        assert [answer.status for answer in answers] == [200] * 10 + [429]

    def test_shares_its_limit_with_the_api(self, limited: Any) -> None:
        for _ in range(10):
            Api(InProcess()).post("auth/login", LOGIN)

        assert self.tried("somebody-else").status == 429

    def test_is_refused_with_the_right_password_too(self, limited: Any) -> None:
        limited.XQMJ_NUM_PROXIES = 1
        name = self.staff()
        for n in range(10):
            self.tried(name, address=f"10.1.0.{n}")

        assert self.tried(name, password=PASSWORD, address="10.1.0.99").status == 429

    def test_lets_staff_in(self, limited: Any) -> None:
        answer = self.tried(self.staff(), password=PASSWORD)

        assert (answer.status, answer.headers["location"]) == (302, "/accounts/profile/")

    def test_is_closed_while_attempts_cannot_be_counted(self, limited: Any) -> None:
        limited.REDIS_URL = "redis://127.0.0.1:1/0"

        answer = self.tried(self.staff(), password=PASSWORD)

        assert (answer.status, answer.code) == (503, "throttle_unavailable")

    def staff(self) -> str:
        """The name of a new member of the staff."""
        name = api.fresh_name()
        get_user_model().objects.create_superuser(username=name, password=PASSWORD)
        return name


class TestWithoutValkey:
    @pytest.fixture(autouse=True)
    def away(self, limited: Any) -> None:
        limited.REDIS_URL = "redis://127.0.0.1:1/0"

    def test_play_goes_on(self, limited: Any) -> None:
        limited.XQMJ_THROTTLES = {"play": "50/60", "read": "50/60"}
        body = accounts.guest(), accounts.guest()
        ada, bob = (Player(InProcess(), session.token) for session in body)

        match_id = api.begun(ada, bob)

        assert ada.view(match_id)["phase"] == "playing"

    @pytest.mark.parametrize("path", ["auth/login", "auth/register", "auth/guest"])
    def test_nobody_enters(self, path: str) -> None:
        answer = Api(InProcess()).post(path, LOGIN)

        assert (answer.status, answer.code) == (503, "throttle_unavailable")
        assert answer.headers["retry-after"] == "5"

    def test_readiness_says_so_and_serves_on(self) -> None:
        health._found.forget()

        answer = Api(InProcess()).get("readiness").json

        assert answer["ready"]
        assert {"name": "valkey", "ok": False, "required": False, "found": "away"} in answer[
            "facts"
        ]


class TestWithoutDatabase:
    @pytest.fixture
    def seat(self) -> tuple[Player, str]:
        ada, bob = api.registered(InProcess()), api.registered(InProcess())
        return ada, api.begun(ada, bob)

    @pytest.fixture
    def away(self, seat: tuple[Player, str], monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_args: Any, **_kwargs: Any) -> Any:
            raise Unavailable

        monkeypatch.setattr(pool, "run", refuse)
        tokens.forget_all()

    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("GET", "matches/{id}"),
            ("GET", "matches/{id}/events"),
            ("GET", "matches/{id}/replay"),
            ("GET", "matches/{id}/export"),
            ("GET", "matches"),
            ("GET", "me"),
            ("GET", "players/somebody"),
            ("POST", "matches/{id}/act"),
            ("POST", "matches/{id}/resign"),
            ("POST", "matches"),
        ],
    )
    def test_is_answered_with_when_to_retry(
        self, seat: tuple[Player, str], away: None, method: str, path: str
    ) -> None:
        ada, match_id = seat
        body = b'{"action": {"type": "win"}}' if method == "POST" else None

        answer = ada.request(
            method, path.replace("{id}", match_id), body=body, headers={"Idempotency-Key": "k"}
        )

        assert (answer.status, answer.code) == (503, "unavailable")
        assert answer.headers["retry-after"] == "1"

    @pytest.mark.parametrize("path", ["auth/login", "auth/register", "auth/guest", "auth/logout"])
    def test_is_answered_so_by_the_tables_of_django_too(
        self, path: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ada = api.registered(InProcess())

        def refuse(*_args: Any, **_kwargs: Any) -> Any:
            raise OperationalError("server closed the connection unexpectedly")

        monkeypatch.setattr("matches.services.idempotency.WriteKey.objects.filter", refuse)
        answer = ada.post(path, LOGIN if path in ("auth/login", "auth/register") else {})

        assert (answer.status, answer.code) == (503, "unavailable")

    def test_leaves_liveness_alone_and_ends_readiness(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_args: Any, **_kwargs: Any) -> Any:
            raise OperationalError("no")

        monkeypatch.setattr("xqmj_site.checks.faults", refuse)
        health._found.forget()

        answer = Api(InProcess()).get("readiness")
        health._found.forget()

        assert (answer.status, answer.json["ready"]) == (503, False)
        assert Api(InProcess()).get("health").status == 200


class TestMistake:
    def test_of_ours_tells_nothing_of_itself(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_args: Any, **_kwargs: Any) -> Any:
            raise RuntimeError("SELECT secret FROM es.match_event")

        monkeypatch.setattr("matches.api.accounts.queries.player_by_username", fail)
        one = Api(InProcess()).get("players/ada")
        other = Api(InProcess()).get("players/bob")

        assert (one.status, one.code) == (500, "internal_error")
        assert (
            one.raw
            == other.raw
            == (
                b'{"type":"/api/v1/errors#internal_error","title":"Internal error","status":500,'
                b'"code":"internal_error",'
                b'"detail":"The server made a mistake. Nothing is known to have changed."}'
            )
        )


class TestRequestId:
    def test_stands_in_every_line_of_its_request_and_in_no_other(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        log, written = logging.getLogger("xqmj.test_limits"), io.StringIO()
        handler = logging.StreamHandler(written)
        handler.setFormatter(logs.formatter("json"))

        def fail(*_args: Any, **_kwargs: Any) -> Any:
            log.error("looked up")
            raise RuntimeError

        monkeypatch.setattr("matches.api.accounts.queries.player_by_username", fail)
        root = logging.getLogger()
        root.addHandler(handler)
        try:
            answers = [Api(InProcess()).get("players/ada") for _ in range(2)]
            log.error("afterwards")
        finally:
            root.removeHandler(handler)

        one, other = (answer.headers["x-request-id"] for answer in answers)
        lines = [json.loads(line) for line in written.getvalue().splitlines()]
        assert one != other
        ours = [line for line in lines if line["logger"].startswith("xqmj.")]
        assert [(line["event"], line.get("request_id")) for line in ours] == [
            ("looked up", one),
            ("a request failed", one),
            ("Internal Server Error: /api/v1/players/ada", one),
            ("looked up", other),
            ("a request failed", other),
            ("Internal Server Error: /api/v1/players/ada", other),
            ("afterwards", None),
        ]


class TestPages:
    """What Django itself refuses, outside the API."""

    def test_are_missed_in_json(self) -> None:
        answer = Api(InProcess()).get("/no/such/page")

        assert (answer.status, answer.code) == (404, "not_found")

    def test_of_another_host_are_refused_in_json(self) -> None:
        answer = Api(InProcess()).get("/admin/", Host="evil.example")

        assert (answer.status, answer.code) == (400, "bad_host")
