"""Players and the answers to their repeated requests, as the database holds them."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth import authenticate
from django.db import IntegrityError

from matches.models import Player, WriteKey, username_key

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"


def name() -> str:
    """A name that nobody has."""
    return f"Ana{uuid4().hex[:12]}"


class TestUsernameKey:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("Misty", "mISTY"),
            ("Ｍｉｓｔｙ", "misty"),
            ("ﬁne", "FINE"),
            ("Straße", "STRASSE"),
            ("é", "e\u0301"),
        ],
    )
    def test_is_the_same_for_names_that_look_the_same(self, one: str, other: str) -> None:
        assert username_key(one) == username_key(other)

    def test_is_stable(self) -> None:
        key = username_key("ǅ𝕄ΐﬃ")

        assert username_key(key) == key


class TestPlayer:
    def test_has_a_public_id_that_says_nothing(self) -> None:
        player = Player.objects.create_user(name(), PASSWORD)

        assert isinstance(player.public_id, UUID)
        assert player.public_id.version == 4
        assert player.kind == Player.Kind.REGISTERED

    @pytest.mark.parametrize("change", [str.upper, str.lower, str.swapcase])
    def test_has_its_name_alone_whatever_the_case(self, change: Any) -> None:
        username = name()
        Player.objects.create_user(username, PASSWORD)

        with pytest.raises(IntegrityError):
            Player.objects.create_user(change(username), PASSWORD)

    def test_is_found_under_any_case_of_its_name(self) -> None:
        username = name()
        player = Player.objects.create_user(username, PASSWORD)

        assert Player.objects.get_by_natural_key(username.upper()) == player
        assert authenticate(username=username.lower(), password=PASSWORD) == player
        assert authenticate(username=username, password="something else") is None

    def test_may_take_another_name(self) -> None:
        player = Player.objects.create_user(name(), PASSWORD)
        player.username = name()

        player.save(update_fields=["username"])

        assert Player.objects.get_by_natural_key(player.username) == player

    def test_without_a_password_cannot_log_in(self) -> None:
        guest = Player.objects.create_user(name(), kind=Player.Kind.GUEST)

        assert not guest.has_usable_password()

    def test_is_of_a_known_kind(self) -> None:
        with pytest.raises(IntegrityError, match="player_kind"):
            Player.objects.create_user(name(), kind="ghost")

    @pytest.mark.parametrize("kind", [Player.Kind.GUEST, Player.Kind.COMPUTER, Player.Kind.BOT])
    @pytest.mark.parametrize("power", ["is_staff", "is_superuser"])
    def test_is_staff_only_with_an_account(self, kind: str, power: str) -> None:
        fields: dict[str, Any] = {"kind": kind, power: True}

        with pytest.raises(IntegrityError, match="player_staff_is_registered"):
            Player.objects.create_user(name(), **fields)

    def test_may_be_made_superuser(self) -> None:
        boss = Player.objects.create_superuser(name(), PASSWORD)

        assert boss.is_staff
        assert boss.has_perm("matches.delete_player")


class TestWriteKey:
    def test_names_one_request_of_a_scope(self) -> None:
        scope, key = uuid4().hex, "k"
        WriteKey.objects.create(scope=scope, key=key, fingerprint=-(2**63))
        WriteKey.objects.create(scope=scope, key="other", fingerprint=1)

        with pytest.raises(IntegrityError, match="write_key_once"):
            WriteKey.objects.create(scope=scope, key=key, fingerprint=2)

    def test_has_answer_and_status_or_neither(self) -> None:
        with pytest.raises(IntegrityError, match="write_key_answered"):
            WriteKey.objects.create(scope=uuid4().hex, key="k", fingerprint=1, status=201)
