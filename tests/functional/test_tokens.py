"""Tokens that are made by hand, and another password."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections
from knox.models import AuthToken

from matches.models import Player as PlayerRow
from matches.models import TokenScope
from matches.services import grants, housekeeping, tokens
from tests.support import api
from tests.support.api import PASSWORD, Api, InProcess, Player

pytestmark = pytest.mark.django_db

SEEK = {"ruleset": "xqmj-32-2p", "control": "3+2"}
OTHER = "staple battery horse"
DAY_MS = 86_400_000


def holder(player: Player, **more: object) -> Player:
    """The same player with a new token of its own."""
    made = api.granted(player, **more)
    return Player(player.transport, made["token"], id=player.id, username=player.username)


class TestToken:
    def test_is_listed_without_itself(self) -> None:
        ada = api.registered(InProcess())
        made = api.granted(ada, name="phone", scope="read", days=7)

        answer = ada.get("tokens")

        newest, first = answer.json["tokens"]
        assert newest == made["shown"]
        assert (newest["name"], newest["scope"], newest["current"]) == ("phone", "read", False)
        assert abs(newest["expires_at_ms"] - newest["created_at_ms"] - 7 * DAY_MS) < 5_000
        assert (first["name"], first["scope"], first["current"]) == (None, "play", True)
        assert made["token"] not in answer.raw.decode()

    def test_of_the_scope_read_may_only_read(self) -> None:
        ada, bob = (api.registered(InProcess()) for _ in range(2))
        match_id = api.begun(ada, bob)
        reader = holder(ada, scope="read")

        assert reader.view(match_id)["you"] == 0
        assert reader.get("matches").status == 200
        for path, body in (
            (f"matches/{match_id}/resign", {}),
            (f"matches/{match_id}/act", {"action": {"type": "pass"}}),
            ("matches", SEEK),
            ("seeks", SEEK),
            ("pairing", SEEK),
            ("challenges", {**SEEK, "opponent": bob.username}),
            (f"matches/{match_id}/rematch", {}),
            ("tokens", {"name": "more"}),
            ("auth/password", {"old": PASSWORD, "new": OTHER}),
            ("auth/upgrade", {"username": "nobody-else", "password": OTHER}),
        ):
            refused = reader.post(path, body)
            assert (refused.status, refused.code) == (403, "scope_forbids"), path
        assert reader.delete("tokens").code == "scope_forbids"
        assert ada.view(match_id)["ended"] is None

    def test_of_the_scope_play_plays(self) -> None:
        ada, bob = (api.registered(InProcess()) for _ in range(2))
        match_id = api.begun(ada, bob)

        assert holder(ada).post(f"matches/{match_id}/resign").status == 200

    def test_revoked_is_refused(self) -> None:
        ada = api.registered(InProcess())
        made = api.granted(ada)
        phone = Api(InProcess(), made["token"])
        assert phone.get("me").status == 200

        assert ada.delete(f"tokens/{made['shown']['id']}").status == 204

        assert phone.get("me").code == "bad_token"
        assert ada.get("me").status == 200
        assert not TokenScope.objects.filter(token__user__public_id=ada.id).exists()

    def test_of_somebody_else_cannot_be_revoked(self) -> None:
        ada, eve = (api.registered(InProcess()) for _ in range(2))
        made = api.granted(ada)

        assert eve.delete(f"tokens/{made['shown']['id']}").code == "unknown_token"
        assert Api(InProcess(), made["token"]).get("me").status == 200

    def test_is_the_only_one_left_when_all_others_are_revoked(self) -> None:
        ada = api.registered(InProcess())
        phone = holder(ada)

        assert phone.delete("tokens").status == 204

        assert ada.get("me").code == "bad_token"
        assert [one["current"] for one in phone.get("tokens").json["tokens"]] == [True]

    def test_is_made_once_for_a_key(self) -> None:
        ada = api.registered(InProcess())

        one, two = (ada.post("tokens", {"name": "phone"}, key="twice") for _ in range(2))

        assert one.raw == two.raw
        assert len(ada.get("tokens").json["tokens"]) == 2

    def test_is_forgotten_with_its_name_when_it_has_expired(self) -> None:
        ada = api.registered(InProcess())
        made = api.granted(ada)
        stored = AuthToken.objects.get(digest=tokens.digest_of(made["token"]))
        AuthToken.objects.filter(pk=stored.pk).update(expiry="2000-01-01T00:00:00Z")
        tokens.forget_all()

        assert len(ada.get("tokens").json["tokens"]) == 1
        assert Api(InProcess(), made["token"]).get("me").code == "bad_token"
        housekeeping.forget_expired()
        assert not TokenScope.objects.filter(pk=stored.pk).exists()


class TestPassword:
    def test_is_changed_by_whoever_knows_it(self) -> None:
        ada = api.registered(InProcess())
        phone = holder(ada)

        answer = ada.post("auth/password", {"old": PASSWORD, "new": OTHER})

        assert (answer.status, answer.raw) == (204, b"")
        names = {"username": ada.username}
        assert Api(InProcess()).post("auth/login", {**names, "password": OTHER}).status == 201
        wrong = Api(InProcess()).post("auth/login", {**names, "password": PASSWORD})
        assert wrong.code == "bad_credentials"
        assert ada.get("me").status == 200
        assert phone.get("me").code == "bad_token"

    def test_is_not_changed_by_whoever_does_not(self) -> None:
        ada = api.registered(InProcess())
        phone = holder(ada)

        refused = ada.post("auth/password", {"old": OTHER, "new": OTHER})

        assert (refused.status, refused.code) == (403, "wrong_password")
        assert phone.get("me").status == 200

    def test_stands_in_no_key(self) -> None:
        ada = api.registered(InProcess())
        ada.post("auth/password", {"old": PASSWORD, "new": OTHER}, key="once")

        again = ada.post("auth/password", {"old": PASSWORD, "new": OTHER}, key="once")
        other = ada.post("auth/password", {"old": PASSWORD, "new": OTHER + "!"}, key="once")

        assert (again.status, other.code) == (204, "key_reused")


@pytest.mark.django_db(transaction=True)
def test_many_at_once_make_no_more_tokens_than_there_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(grants, "AT_ONCE", 3)
    ada = api.registered(InProcess())

    def attempt(_: int) -> int:
        try:
            return ada.post("tokens", {"name": "phone"}).status
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as threads:
        statuses = sorted(threads.map(attempt, range(6)))

    assert statuses == [201, 201, 409, 409, 409, 409]
    assert AuthToken.objects.filter(user=PlayerRow.objects.get(public_id=ada.id)).count() == 3
