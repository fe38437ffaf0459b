"""Profiles, one's own data, and the end of an account."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, connections

from matches.models import Player as PlayerRow
from matches.models import Profile
from matches.services import people
from ratings.services import apply_finished
from tests.support import api
from tests.support.api import PASSWORD, Api, InProcess, Player, fresh_name

pytestmark = pytest.mark.django_db

EMPTY = {"bio": None, "country": None, "language": None, "pieces": None, "notation": None}


class TestProfile:
    def test_is_empty_at_first_and_changes_field_by_field(self) -> None:
        ada = api.registered(InProcess())
        assert ada.get("me/profile").json == {"profile": EMPTY}

        one = ada.patch("me/profile", {"bio": " Hello\nthere 炮 ", "country": "TW"})
        two = ada.patch("me/profile", {"pieces": "hanzi", "notation": "letters"})
        three = ada.patch("me/profile", {"country": None, "language": "zh-Hans"})

        assert one.json["profile"] == {**EMPTY, "bio": "Hello\nthere 炮", "country": "TW"}
        assert two.json["profile"]["country"] == "TW"
        assert three.json["profile"] == {
            "bio": "Hello\nthere 炮",
            "country": None,
            "language": "zh-Hans",
            "pieces": "hanzi",
            "notation": "letters",
        }

    def test_shows_others_bio_and_country_alone(self) -> None:
        ada = api.registered(InProcess())
        ada.patch("me/profile", {"bio": "hi", "country": "DE", "language": "en"})

        found = Api(InProcess()).get(f"players/{ada.username}/profile")

        assert found.json == {"profile": {"bio": "hi", "country": "DE"}}

    def test_is_changed_once_for_a_key(self) -> None:
        ada = api.registered(InProcess())

        first = ada.patch("me/profile", {"bio": "one"}, key="same")
        other = ada.patch("me/profile", {"bio": "two"}, key="same")

        assert (first.status, other.code) == (200, "key_reused")

    def test_is_read_and_not_changed_by_a_token_that_reads(self) -> None:
        ada = api.registered(InProcess())
        reader = Player(InProcess(), api.granted(ada, scope="read")["token"])

        assert reader.get("me/profile").status == 200
        assert reader.patch("me/profile", {"bio": "x"}).code == "scope_forbids"


class TestOwnData:
    def test_holds_everything_and_no_secret(self) -> None:
        transport, name = InProcess(), fresh_name()
        body = {"username": name, "password": PASSWORD, "email": "ada@example.org"}
        made = Api(transport).post("auth/register", body).json
        ada = Player(transport, made["token"], id=made["player"]["id"], username=name)
        bob = api.registered(transport)
        ada.patch("me/profile", {"bio": "hi"})
        granted = api.granted(ada, name="phone", scope="read")
        match_id = api.begun(ada, bob, rated=True)
        bob.post(f"matches/{match_id}/resign")
        live = api.created(ada)
        apply_finished()

        answer = ada.get("me/export")

        found = answer.json
        assert found["account"]["username"] == name
        assert found["account"]["email"] == "ada@example.org"
        assert found["profile"]["bio"] == "hi"
        assert [one["name"] for one in found["tokens"]] == ["phone", None]
        view = f"/api/v1/matches/{match_id}"
        assert [(one["view"], one["record"]) for one in found["matches"]] == [
            (f"/api/v1/matches/{live}", None),
            (view, f"{view}/export"),
        ]
        (change,) = found["ratings"]
        assert (change["pool"], change["match_id"]) == ("xqmj-32-2p-blitz", match_id)
        assert (change["before"], change["after"] > change["before"]) == ("1500.000000", True)
        for secret in (str(ada.token), granted["token"], "argon2"):
            assert secret not in answer.raw.decode()

    def test_is_for_tokens_that_manage(self) -> None:
        ada = api.registered(InProcess())
        reader = Api(InProcess(), api.granted(ada, scope="read")["token"])

        assert reader.get("me/export").code == "scope_forbids"


class TestClosing:
    def test_takes_the_name_and_leaves_the_log(self) -> None:
        ada, bob = api.registered(InProcess()), api.registered(InProcess())
        phone = Api(InProcess(), api.granted(ada)["token"])
        match_id, live = api.begun(ada, bob), api.begun(ada, bob)
        assert ada.post(f"matches/{match_id}/resign").status == 200
        api.sought(ada)
        api.challenged(ada, bob)
        ada.patch("me/profile", {"bio": "hi"})
        record = bob.get(f"matches/{match_id}/export").raw

        answer = ada.post("me/close", {"password": PASSWORD})

        assert (answer.status, answer.raw) == (204, b"")
        assert (ada.get("me").code, phone.get("me").code) == ("bad_token", "bad_token")
        anybody = Api(InProcess())
        assert anybody.get(f"players/{ada.username}").code == "unknown_player"
        names = {"username": ada.username, "password": PASSWORD}
        assert anybody.post("auth/login", names).code == "bad_credentials"
        shown = bob.get(f"matches/{match_id}").json["players"][0]
        assert shown["id"] == ada.id
        assert shown["username"].startswith("closed-")
        assert bob.get(f"matches/{match_id}/export").raw == record
        assert bob.view(live)["ended"] is None
        assert ada.username not in str(bob.get("challenges").json)
        row = PlayerRow.objects.get(public_id=ada.id)
        assert (row.email, row.has_usable_password(), row.is_active) == ("", False, False)
        assert not Profile.objects.filter(player=row).exists()

    def test_leaves_the_name_to_nobody(self) -> None:
        ada = api.registered(InProcess(), fresh_name("m"))
        assert ada.post("me/close", {"password": PASSWORD}).status == 204

        for name in (ada.username, ada.username.upper(), f"rn{ada.username[1:]}"):
            body = {"username": name, "password": PASSWORD}
            assert Api(InProcess()).post("auth/register", body).code == "username_taken"
            guest = api.guest(InProcess())
            assert guest.post("auth/upgrade", body).code == "username_taken"

    def test_asks_for_the_password(self) -> None:
        ada = api.registered(InProcess())

        refused = ada.post("me/close", {"password": "wrong horse battery"})

        assert (refused.status, refused.code) == (403, "wrong_password")
        assert ada.get("me").status == 200


@pytest.mark.django_db(transaction=True)
def test_a_name_is_never_free_while_its_account_closes() -> None:
    ada = api.registered(InProcess())
    people.forget(ada.id)

    def close() -> int:
        try:
            return ada.post("me/close", {"password": PASSWORD}).status
        finally:
            connections.close_all()

    def register(_: int) -> str | None:
        try:
            body = {"username": ada.username, "password": PASSWORD}
            return Api(InProcess()).post("auth/register", body).code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as threads:
        closed = threads.submit(close)
        codes = list(threads.map(register, range(10)))

    assert closed.result() == 204
    assert codes == ["username_taken"] * 10
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM matches_player WHERE username = %s", [ada.username])
        assert cursor.fetchone() == (0,)
