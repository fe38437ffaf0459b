"""Keys of writes: repeated, a request answers as it did; another one under the key is refused."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from matches.models import Player as PlayerRow
from matches.models import WriteKey
from matches.services.keys import keyed_fingerprint
from tests.support import api, sitting
from tests.support.ahead import AheadStore
from tests.support.api import Answer, Api, InProcess, Player

pytestmark = pytest.mark.django_db

Rig = Callable[[tuple[str, ...]], None]
DISCARD = {"type": "discard", "tile": "rC", "drawn": False}


def without_now(answer: Answer) -> dict[str, Any]:
    """The body but for what a repetition may change: the time."""
    found: dict[str, Any] = answer.json
    found.pop("now", None)
    return found


@pytest.fixture
def seats() -> tuple[Player, Player]:
    return api.registered(InProcess()), api.registered(InProcess())


class TestCommand:
    @pytest.fixture(autouse=True)
    def deal(self, rigged: Rig, clock: AheadStore) -> AheadStore:
        rigged(sitting.CHOW_OFFERED)
        return clock

    @pytest.mark.parametrize(
        ("path", "body"),
        [("act", {"action": DISCARD}), ("resign", {}), ("leave", {})],
        ids=["act", "resign", "leave"],
    )
    def test_answers_the_same_when_repeated(
        self, seats: tuple[Player, Player], path: str, body: dict[str, Any]
    ) -> None:
        ada, bob = seats
        match_id = api.begun(ada, bob)

        answers = [ada.post(f"matches/{match_id}/{path}", body, key="k") for _ in range(3)]

        assert [answer.status for answer in answers] == [200] * 3
        assert without_now(answers[0]) == without_now(answers[1]) == without_now(answers[2])

    def test_answers_the_same_for_a_join_and_for_being_ready(
        self, seats: tuple[Player, Player]
    ) -> None:
        ada, bob = seats
        match_id = api.created(ada)

        joins = [bob.post(f"matches/{match_id}/join", key="j") for _ in range(2)]
        readies = [
            bob.post(f"matches/{match_id}/ready", {"nonce": "ab" * 8}, key="r") for _ in "12"
        ]

        assert without_now(joins[0]) == without_now(joins[1])
        assert without_now(readies[0]) == without_now(readies[1])
        assert readies[0].json["events"][0]["data"]["nonce"] == "ab" * 8

    def test_answers_the_same_long_after_and_after_the_end(
        self, seats: tuple[Player, Player], deal: AheadStore
    ) -> None:
        ada, bob = seats
        match_id = api.begun(ada, bob)
        first = ada.act(match_id, DISCARD, key="k")
        assert bob.act(match_id, {"type": "pass"}).status == 200
        deal.ahead_ms += 1_500
        assert bob.post(f"matches/{match_id}/resign").status == 200

        again = ada.act(match_id, DISCARD, key="k")

        assert again.status == 200
        assert without_now(again) == without_now(first)

    def test_answers_its_own_effects_and_nothing_else(self, seats: tuple[Player, Player]) -> None:
        ada, bob = seats
        match_id = api.begun(ada, bob)

        answer = ada.act(match_id, DISCARD).json

        assert [line["kind"] for line in answer["events"]] == ["xqmj.tile_discarded"]
        assert answer["seq"] == answer["events"][-1]["seq"]
        assert set(answer["now"]) == {"server_time_ms", "due_at_ms", "clocks"}

    def test_refuses_another_body_under_its_key(self, seats: tuple[Player, Player]) -> None:
        ada, bob = seats
        match_id = api.begun(ada, bob)
        assert ada.act(match_id, DISCARD, key="k").status == 200

        other = ada.act(match_id, {"type": "win"}, key="k")

        assert (other.status, other.code) == (409, "key_reused")

    def test_refuses_another_address_under_its_key(self, seats: tuple[Player, Player]) -> None:
        ada, bob = seats
        match_id = api.begun(ada, bob)
        assert ada.act(match_id, DISCARD, key="k").status == 200

        other = ada.post(f"matches/{match_id}/resign", key="k")

        assert (other.status, other.code) == (409, "key_reused")

    def test_does_not_mind_spaces_and_the_order_of_keys(self, seats: tuple[Player, Player]) -> None:
        ada, bob = seats
        match_id = api.begun(ada, bob)
        first = ada.act(match_id, DISCARD, key="k")

        again = ada.request(
            "POST",
            f"matches/{match_id}/act",
            body=b'{ "action" : {"drawn":false, "tile":"r\\u0043", "type":"discard"} }',
            headers={"Idempotency-Key": "k"},
        )

        assert without_now(again) == without_now(first)

    def test_does_not_bind_the_key_of_a_refusal(self, seats: tuple[Player, Player]) -> None:
        ada, bob = seats
        match_id = api.begun(ada, bob)
        assert ada.act(match_id, {"type": "win"}, key="k").status == 409

        assert ada.act(match_id, DISCARD, key="k").status == 200

    def test_lets_two_players_use_one_key(self, seats: tuple[Player, Player]) -> None:
        ada, bob = seats
        match_id = api.begun(ada, bob)
        assert ada.act(match_id, DISCARD, key="k").status == 200

        assert bob.act(match_id, {"type": "chow"}, key="k").status == 200

    def test_happens_once_however_often_it_arrives_at_once(
        self, seats: tuple[Player, Player]
    ) -> None:
        ada, bob = seats
        match_id = api.begun(ada, bob)

        def send(_: int) -> Answer:
            try:
                return Player(InProcess(), ada.token).act(match_id, DISCARD, key="k")
            finally:
                connections.close_all()

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(send, range(16)))

        assert {answer.status for answer in answers} == {200}
        assert len({str(without_now(answer)) for answer in answers}) == 1
        lines = ada.get(f"matches/{match_id}/events").json["events"]
        assert [line["kind"] for line in lines].count("xqmj.tile_discarded") == 1


class TestInvitation:
    def test_is_declined_once_for_one_key(self, seats: tuple[Player, Player]) -> None:
        ada, bob = seats
        kept = api.created(ada, opponent=bob.username)

        first, again = (bob.post(f"matches/{kept}/leave", key="k") for _ in range(2))

        assert (first.status, without_now(first)) == (200, without_now(again))
        (end,) = first.json["events"]
        assert (end["kind"], end["actor"], end["data"]["reason"]) == ("match.ended", 1, "aborted")
        for player in seats:
            assert player.view(kept)["ended"]["seat"] == 1
            assert player.post(f"matches/{kept}/leave").code == "match_ended"
        assert bob.post(f"matches/{kept}/join").code == "match_ended"

    def test_that_was_declined_stays_hidden_from_everybody_else(
        self, seats: tuple[Player, Player]
    ) -> None:
        ada, bob = seats
        kept = api.created(ada, opponent=bob.username)
        assert bob.post(f"matches/{kept}/leave").status == 200

        for path in ("", "/events", "/replay", "/export"):
            answer = api.registered(InProcess()).get(f"matches/{kept}{path}")
            assert (answer.status, answer.code) == (404, "unknown_match")


class TestCreation:
    def test_makes_one_match_for_one_key(self, seats: tuple[Player, Player]) -> None:
        ada, _ = seats
        body = {"ruleset": "xqmj-32-2p", "control": "3+2"}

        first, again = (ada.post("matches", body, key="k") for _ in range(2))

        assert (first.status, again.status) == (201, 201)
        assert without_now(first) == without_now(again)
        assert len(ada.get("matches").json["matches"]) == 1

    def test_answers_the_same_though_the_opponent_has_another_name_now(
        self, seats: tuple[Player, Player]
    ) -> None:
        ada, bob = seats
        body = {"ruleset": "xqmj-32-2p", "control": "3+2", "opponent": bob.username}
        first = ada.post("matches", body, key="k")
        row = PlayerRow.objects.get(public_id=bob.id)
        row.username = api.fresh_name()
        row.save(update_fields=["username"])

        again = ada.post("matches", body, key="k")

        assert (first.status, again.status) == (201, 201)
        assert without_now(first) == without_now(again)
        other = ada.post("matches", {**body, "control": "1+1"}, key="k")
        assert (other.status, other.code) == (409, "key_reused")
        assert ada.post("matches", body).code == "unknown_player"

    def test_leaves_twenty_invitations_open_at_a_time(self, seats: tuple[Player, Player]) -> None:
        ada, bob = seats
        body = {"ruleset": "xqmj-32-2p", "control": "3+2", "opponent": bob.username}
        first, *_ = [api.created(ada, opponent=bob.username) for _ in range(19)]
        last = ada.post("matches", body, key="k")

        refused = ada.post("matches", body)

        assert last.status == 201
        assert (refused.status, refused.code) == (409, "too_many_invitations")
        assert without_now(ada.post("matches", body, key="k")) == without_now(last)
        # Neither links to whoever comes nor the other's invitations count.
        assert api.created(ada)
        assert api.created(bob, opponent=ada.username)
        assert bob.post(f"matches/{first}/join").status == 200
        assert ada.post("matches", body).status == 201

    def test_counts_no_invitation_that_was_declined(self, seats: tuple[Player, Player]) -> None:
        ada, bob = seats
        made = [api.created(ada, opponent=bob.username) for _ in range(20)]

        assert bob.post(f"matches/{made[0]}/leave").status == 200

        assert api.created(ada, opponent=bob.username)

    def test_refuses_another_match_under_its_key(self, seats: tuple[Player, Player]) -> None:
        ada, _ = seats
        assert (
            ada.post("matches", {"ruleset": "xqmj-32-2p", "control": "3+2"}, key="k").status == 201
        )

        other = ada.post("matches", {"ruleset": "xqmj-32-2p", "control": "1+1"}, key="k")

        assert (other.status, other.code) == (409, "key_reused")


class TestAccount:
    def test_is_made_once_for_one_key(self) -> None:
        name, key = api.fresh_name(), secrets.token_hex(8)
        body = {"username": name, "password": api.PASSWORD}

        first, again = (Api(InProcess()).post("auth/register", body, key=key) for _ in range(2))

        assert (first.status, first.raw) == (201, again.raw)
        assert PlayerRow.objects.filter(username=name).count() == 1

    def test_is_not_made_under_the_key_of_another(self) -> None:
        key = secrets.token_hex(8)
        bodies = [{"username": api.fresh_name(), "password": api.PASSWORD} for _ in range(2)]
        assert Api(InProcess()).post("auth/register", bodies[0], key=key).status == 201

        other = Api(InProcess()).post("auth/register", bodies[1], key=key)

        assert (other.status, other.code) == (409, "key_reused")

    def test_gives_one_token_for_one_key_of_a_log_in(self) -> None:
        ada = api.registered(InProcess())
        body = {"username": ada.username, "password": api.PASSWORD}
        key = secrets.token_hex(8)

        first, again = (Api(InProcess()).post("auth/login", body, key=key) for _ in range(2))
        other = Api(InProcess()).post("auth/login", body)

        assert first.status == 201
        assert first.json["token"] == again.json["token"] != other.json["token"]

    def test_takes_a_right_password_under_the_key_of_a_wrong_one(self) -> None:
        ada, key = api.registered(InProcess()), secrets.token_hex(8)
        wrong = {"username": ada.username, "password": "not the password"}
        right = {"username": ada.username, "password": api.PASSWORD}
        assert Api(InProcess()).post("auth/login", wrong, key=key).status == 401

        assert Api(InProcess()).post("auth/login", right, key=key).status == 201

    def test_of_a_guest_is_made_once_for_one_key(self) -> None:
        key = secrets.token_hex(8)

        first, again = (Api(InProcess()).post("auth/guest", key=key) for _ in range(2))

        assert (first.status, first.raw) == (201, again.raw)

    def test_leaves_nothing_to_try_passwords_on(self) -> None:
        name, key = api.fresh_name(), secrets.token_hex(8)
        body = {"username": name, "password": api.PASSWORD}
        assert Api(InProcess()).post("auth/register", body, key=key).status == 201

        written = f'{{"password":"{api.PASSWORD}","username":"{name}"}}'.encode()
        unkeyed = hashlib.sha256(b"POST /api/v1/auth/register\n" + written).digest()[:8]
        kept = WriteKey.objects.get(key=key).fingerprint
        assert kept != int.from_bytes(unkeyed, "big", signed=True)
        assert kept == keyed_fingerprint("/api/v1/auth/register", written)

    @pytest.mark.parametrize("path", ["auth/guest", "auth/register", "auth/login"])
    def test_of_a_stranger_needs_a_key_that_nobody_else_chooses(self, path: str) -> None:
        answer = Api(InProcess()).post(path, key="k" * 15)

        assert (answer.status, answer.code) == (400, "idempotency_key_invalid")

    def test_of_whoever_comes_from_nowhere_is_shared_with_nobody(self) -> None:
        key = secrets.token_hex(8)

        answers = [
            Client(REMOTE_ADDR="").post(
                "/api/v1/auth/guest",
                "{}",
                content_type="application/json",
                headers={"idempotency-key": key},
            )
            for _ in range(2)
        ]

        assert [answer.status_code for answer in answers] == [201, 201]
        assert answers[0].json()["token"] != answers[1].json()["token"]


class TestLogout:
    def test_ends_the_token_at_once(self) -> None:
        ada = api.registered(InProcess())

        answer = ada.post("auth/logout")

        assert (answer.status, answer.raw) == (204, b"")
        assert (ada.get("me").status, ada.get("me").code) == (401, "bad_token")

    def test_leaves_other_tokens_alone(self) -> None:
        ada = api.registered(InProcess())
        body = {"username": ada.username, "password": api.PASSWORD}
        other = Player(InProcess(), Api(InProcess()).post("auth/login", body).json["token"])

        assert ada.post("auth/logout").status == 204

        assert other.get("me").status == 200

    def test_answers_the_same_when_repeated_though_the_token_is_gone(self) -> None:
        ada = api.registered(InProcess())

        assert [ada.post("auth/logout", key="k").status for _ in range(3)] == [204] * 3
        assert ada.post("auth/logout", key="other").code == "bad_token"
