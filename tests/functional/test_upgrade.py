"""A guest gets an account, and is the same player with it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections

from matches.services import people, tokens
from tests.support import api
from tests.support.api import PASSWORD, Api, InProcess, Player, fresh_name

pytestmark = pytest.mark.django_db

RATED = {"ruleset": "xqmj-32-2p", "control": "3+2", "rated": True}


def upgraded(player: Player, **more: Any) -> Any:
    body = {"username": fresh_name("u"), "password": PASSWORD, **more}
    return player.post("auth/upgrade", body)


class TestUpgrade:
    def test_keeps_player_token_and_matches(self) -> None:
        one, two = (api.guest(InProcess()) for _ in range(2))
        match_id = api.begun(one, two)
        name = fresh_name("u")

        answer = upgraded(one, username=name)

        assert answer.status == 200, answer.raw
        shown = {"id": one.id, "username": name, "kind": "registered"}
        assert answer.json == {"player": shown}
        assert one.get("me").json["player"] == shown
        assert two.get(f"matches/{match_id}").json["players"][0] == shown
        listed = one.get("matches").json["matches"]
        assert [found["match_id"] for found in listed] == [match_id]
        assert one.post(f"matches/{match_id}/resign").status == 200

    def test_opens_what_is_for_accounts(self) -> None:
        guest = api.guest(InProcess())
        assert guest.post("matches", RATED).code == "rated_needs_accounts"

        name = fresh_name("u")
        assert upgraded(guest, username=name).status == 200

        assert guest.post("matches", RATED).status == 201
        login = Api(InProcess()).post(
            "auth/login", {"username": name.upper(), "password": PASSWORD}
        )
        assert login.status == 201
        assert login.json["player"]["id"] == guest.id

    def test_is_answered_the_same_when_repeated_and_refused_when_new(self) -> None:
        guest = api.guest(InProcess())
        body = {"username": fresh_name("u"), "password": PASSWORD}

        first, again = (guest.post("auth/upgrade", body, key="once-only") for _ in range(2))
        other = upgraded(guest)

        assert (first.status, first.raw) == (again.status, again.raw) == (200, first.raw)
        assert (other.status, other.code) == (409, "not_a_guest")

    @pytest.mark.parametrize(
        ("more", "code"),
        [
            ({"username": "admin"}, "username_reserved"),
            ({"username": "a b c"}, "bad_username"),
            ({"password": "short"}, "bad_password"),
            ({"email": "nowhere"}, "bad_email"),
        ],
    )
    def test_refuses_as_registering_does(self, more: dict[str, Any], code: str) -> None:
        guest = api.guest(InProcess())

        assert upgraded(guest, **more).code == code
        assert guest.get("me").json["player"]["kind"] == "guest"

    def test_takes_no_name_that_is_taken(self) -> None:
        known, guest = api.registered(InProcess()), api.guest(InProcess())

        assert upgraded(guest, username=known.username.upper()).code == "username_taken"
        assert guest.get("me").json["player"]["kind"] == "guest"

    def test_takes_no_name_that_looks_like_another_and_keeps_its_own(self) -> None:
        known, guest = api.registered(InProcess(), fresh_name("m")), api.guest(InProcess())
        alike = f"rn{known.username[1:]}"
        own = fresh_name("w")

        assert upgraded(guest, username=alike).code == "username_taken"
        assert upgraded(guest, username=own).status == 200
        other = api.guest(InProcess())
        assert upgraded(other, username=f"vv{own[1:]}").code == "username_taken"

    def test_is_seen_by_other_processes_before_long(self) -> None:
        guest = api.guest(InProcess())
        assert upgraded(guest).status == 200

        assert tokens.TRUSTED_S <= 5
        assert people.GUEST_REMEMBERED_S <= 5


@pytest.mark.django_db(transaction=True)
def test_two_at_once_make_one_account() -> None:
    guest = api.guest(InProcess())
    names = [fresh_name("u") for _ in range(6)]

    def attempt(name: str) -> int:
        try:
            return int(
                upgraded(Player(InProcess(), guest.token, id=guest.id), username=name).status
            )
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(names)) as threads:
        statuses = sorted(threads.map(attempt, names))

    assert statuses == [200, 409, 409, 409, 409, 409]
    found = [name for name in names if Api(InProcess()).get(f"players/{name}").status == 200]
    assert guest.get("me").json["player"]["username"] in found
    assert len(found) == 1
