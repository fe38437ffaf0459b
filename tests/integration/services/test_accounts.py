"""Accounts, tokens, and writes that are answered once."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings as settings_of_django
from django.db import connection
from django.db.models.functions import Now
from knox.crypto import hash_token
from knox.models import AuthToken

from matches import tasks
from matches.eventstore import pool
from matches.models import Player, WriteKey
from matches.services import accounts, housekeeping, idempotency, tokens
from matches.services.accounts import Session
from matches.services.errors import ServiceError
from tests.support.seated import at_once

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "correct horse battery"


def name() -> str:
    """A name that nobody has."""
    return f"n{uuid4().hex[:20]}"


def refusal(call: Callable[[], Any]) -> ServiceError:
    with pytest.raises(ServiceError) as refused:
        call()
    return refused.value


def reasons_of(error: ServiceError) -> set[str]:
    reasons = error.detail["reasons"]
    assert isinstance(reasons, list)
    return set(reasons)


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that look a token up."""
    made: list[str] = []
    run = pool.run

    def counted(statement: str, params: Any) -> Any:
        if "knox" in statement:
            made.append(statement)
        return run(statement, params)

    monkeypatch.setattr(pool, "run", counted)
    return made


class TestRegistration:
    def test_logs_the_new_account_in(self) -> None:
        called = name()

        session = accounts.register(username=called, password=PASSWORD, email="a@example.org")

        identity = accounts.authenticate(session.token)
        assert identity == session.identity
        assert (identity.kind, identity.username) == ("registered", called)

    def test_keeps_no_token_and_no_password(self) -> None:
        session = accounts.register(username=name(), password=PASSWORD)

        player = Player.objects.get(public_id=session.identity.id)
        assert player.password.startswith("argon2")
        stored = AuthToken.objects.get(user=player)
        assert session.token not in stored.digest
        assert stored.expiry is not None

    def test_refuses_a_name_that_differs_by_case_alone(self) -> None:
        called = name()
        accounts.register(username=called, password=PASSWORD)

        error = refusal(lambda: accounts.register(username=called.upper(), password=PASSWORD))

        assert error.code == "username_taken"

    def test_refuses_a_name_that_looks_like_another(self) -> None:
        called = f"m{uuid4().hex[:18]}"
        accounts.register(username=called, password=PASSWORD)

        error = refusal(lambda: accounts.register(username=f"rn{called[1:]}", password=PASSWORD))

        assert error.code == "username_taken"

    def test_lets_an_older_name_that_looks_like_another_log_in(self) -> None:
        called = name()
        accounts.register(username=called, password=PASSWORD)
        Player.objects.filter(username=called).update(lookalike=None)

        session = accounts.login(username=called, password=PASSWORD)

        assert session.identity.username == called

    @pytest.mark.parametrize(
        ("password", "reasons"),
        [
            ("short", ["password_too_short"]),
            ("1q2w3e4r5t6y", ["password_too_common"]),
            ("x" * 257, ["password_too_long"]),
            ("\ud800" * 20, ["password_invalid"]),
        ],
    )
    def test_refuses_a_weak_password(self, password: str, reasons: list[str]) -> None:
        error = refusal(lambda: accounts.register(username=name(), password=password))

        assert error.code == "bad_password"
        assert set(reasons) <= reasons_of(error)

    def test_refuses_a_password_like_the_name(self) -> None:
        called = name()

        error = refusal(lambda: accounts.register(username=called, password=called))

        assert "password_too_similar" in reasons_of(error)

    @pytest.mark.parametrize("email", ["a", "a@b@c", "a@example.org\n", "x" * 250 + "@e.org"])
    def test_refuses_what_is_no_address(self, email: str) -> None:
        call = lambda: accounts.register(username=name(), password=PASSWORD, email=email)  # noqa: E731

        assert refusal(call).code == "bad_email"

    def test_by_many_at_once_gives_the_name_to_one(self) -> None:
        called = name()

        def register() -> Session:
            try:
                return accounts.register(username=called, password=PASSWORD)
            finally:
                connection.close()

        results = at_once(*[register] * 4)

        codes = sorted(one.code if isinstance(one, ServiceError) else "ok" for one in results)
        assert codes == ["ok"] + ["username_taken"] * 3


class TestLogin:
    def test_gives_another_token(self) -> None:
        called = name()
        first = accounts.register(username=called, password=PASSWORD)

        second = accounts.login(username=called.upper(), password=PASSWORD)

        assert second.token != first.token
        assert accounts.authenticate(second.token) == accounts.authenticate(first.token)

    @pytest.mark.parametrize("username", ["nobody-here", "", "\0", "x" * 9_999, "\ud800"])
    def test_with_an_unknown_name_is_refused_like_a_wrong_password(self, username: str) -> None:
        called = name()
        accounts.register(username=called, password=PASSWORD)
        wrong = refusal(lambda: accounts.login(username=called, password="wrong horse battery"))

        unknown = refusal(lambda: accounts.login(username=username, password=PASSWORD))

        assert (unknown.code, dict(unknown.detail)) == (wrong.code, dict(wrong.detail))
        assert wrong.code == "bad_credentials"

    def test_with_an_unknown_name_hashes_all_the_same(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hashed: list[str] = []
        monkeypatch.setattr(accounts, "make_password", hashed.append)

        refusal(lambda: accounts.login(username=name(), password=PASSWORD))

        assert len(hashed) == 1

    def test_of_a_barred_player_is_refused(self) -> None:
        called = name()
        accounts.register(username=called, password=PASSWORD)
        Player.objects.filter(username=called).update(is_active=False)

        assert refusal(lambda: accounts.login(username=called, password=PASSWORD)).code == (
            "bad_credentials"
        )

    @pytest.mark.parametrize("password", ["", "\0", "\ud800", "x" * 100_000])
    def test_with_what_can_be_no_password_is_refused(self, password: str) -> None:
        called = name()
        accounts.register(username=called, password=PASSWORD)

        assert refusal(lambda: accounts.login(username=called, password=password)).code == (
            "bad_credentials"
        )

    def test_of_a_guest_is_refused(self) -> None:
        guest = accounts.guest()
        called = Player.objects.get(public_id=guest.identity.id).username

        assert refusal(lambda: accounts.login(username=called, password="")).code == (
            "bad_credentials"
        )

    def test_clears_away_tokens_that_have_expired(self) -> None:
        called = name()
        first = accounts.register(username=called, password=PASSWORD)
        AuthToken.objects.filter(user__username=called).update(expiry=Now() - timedelta(1))

        accounts.login(username=called, password=PASSWORD)

        assert AuthToken.objects.filter(user__username=called).count() == 1
        tokens.forget_all()
        assert refusal(lambda: accounts.authenticate(first.token)).code == "bad_token"


class TestGuest:
    def test_has_a_token_and_no_name(self) -> None:
        session = accounts.guest()

        identity = accounts.authenticate(session.token)
        assert (identity.kind, identity.username) == ("guest", None)
        assert session.expires_at_ms is not None


class TestToken:
    def test_is_hashed_as_it_is_stored(self) -> None:
        token = accounts.guest().token

        assert tokens.digest_of(token) == hash_token(token)
        assert AuthToken.objects.filter(digest=tokens.digest_of(token)).exists()

    def test_is_looked_up_once_in_five_seconds(self, looked_up: list[str]) -> None:
        session = accounts.guest()
        for _ in range(20):
            accounts.authenticate(session.token)

        assert len(looked_up) == 1

    def test_is_looked_up_again_after_five_seconds(
        self, looked_up: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        session = accounts.guest()
        accounts.authenticate(session.token)
        later_s = time.monotonic() + tokens.TRUSTED_S
        monkeypatch.setattr(time, "monotonic", lambda: later_s)

        accounts.authenticate(session.token)

        assert len(looked_up) == 2

    def test_is_looked_up_with_all_others_that_are_used(
        self, looked_up: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tokens.forget_all()
        sessions = [accounts.guest() for _ in range(5)]
        for session in (*sessions, *sessions[:4]):
            accounts.authenticate(session.token)
        assert len(looked_up) == 5
        later_s = time.monotonic() + tokens.TRUSTED_S
        monkeypatch.setattr(time, "monotonic", lambda: later_s)

        for session in sessions[:4]:
            assert accounts.authenticate(session.token) == session.identity
        assert len(looked_up) == 6

    def test_unused_is_forgotten(self, monkeypatch: pytest.MonkeyPatch) -> None:
        tokens.forget_all()
        sessions = [accounts.guest() for _ in range(2)]
        accounts.authenticate(sessions[0].token)
        later_s = time.monotonic() + tokens.TRUSTED_S
        monkeypatch.setattr(time, "monotonic", lambda: later_s)

        accounts.authenticate(sessions[1].token)

        assert list(tokens._memory._seen) == [tokens.digest_of(sessions[1].token)]

    def test_revoked_here_is_refused_at_once(self) -> None:
        session = accounts.guest()
        accounts.authenticate(session.token)

        accounts.logout(session.token)

        assert refusal(lambda: accounts.authenticate(session.token)).code == "bad_token"

    def test_revoked_elsewhere_is_refused_within_five_seconds(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        session = accounts.guest()
        accounts.authenticate(session.token)
        AuthToken.objects.filter(digest=tokens.digest_of(session.token)).delete()
        later_s = time.monotonic() + tokens.TRUSTED_S
        monkeypatch.setattr(time, "monotonic", lambda: later_s)

        assert refusal(lambda: accounts.authenticate(session.token)).code == "bad_token"

    def test_revoked_during_its_look_up_is_not_remembered(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        session = accounts.guest()
        run = pool.run

        def slow(statement: str, params: Any) -> Any:
            answer = run(statement, params)
            if "knox" in statement:
                accounts.logout(session.token)
            return answer

        monkeypatch.setattr(pool, "run", slow)

        assert refusal(lambda: accounts.authenticate(session.token)).code == "bad_token"

    def test_expires_by_the_databases_clock(self, monkeypatch: pytest.MonkeyPatch) -> None:
        session = accounts.guest()
        monkeypatch.setattr(time, "time", lambda: 4e9)

        assert accounts.authenticate(session.token) == session.identity
        tokens.forget_all()
        AuthToken.objects.filter(digest=tokens.digest_of(session.token)).update(
            expiry=Now() - timedelta(seconds=1)
        )
        assert refusal(lambda: accounts.authenticate(session.token)).code == "bad_token"

    def test_of_a_barred_player_is_refused(self) -> None:
        session = accounts.guest()
        Player.objects.filter(public_id=session.identity.id).update(is_active=False)

        assert refusal(lambda: accounts.authenticate(session.token)).code == "bad_token"

    @pytest.mark.parametrize("token", ["", "x", "\0", "ü" * 64, "a" * 129, "a\n" * 32, "\ud800"])
    def test_that_was_never_given_is_refused(self, token: str) -> None:
        assert refusal(lambda: accounts.authenticate(token)).code == "bad_token"

    def test_that_is_nearly_right_is_refused(self) -> None:
        token = accounts.guest().token
        other = token[:-1] + ("0" if token[-1] != "0" else "1")

        assert refusal(lambda: accounts.authenticate(other)).code == "bad_token"


class TestWriteAnsweredOnce:
    def once(self, key: str, effect: Callable[[], tuple[int, bytes]], fingerprint: int = 1) -> Any:
        return idempotency.once(
            scope="player:test", key=key, fingerprint=fingerprint, effect=effect
        )

    def test_gives_equal_bytes_for_ever(self) -> None:
        called, made = uuid4().hex, []

        def effect() -> tuple[int, bytes]:
            made.append(accounts.guest().token)
            return 201, made[-1].encode()

        first = self.once(called, effect)
        second = self.once(called, effect)

        assert (second.status, second.body) == (first.status, first.body) == (201, made[0].encode())
        assert (first.replayed, second.replayed) == (False, True)
        assert len(made) == 1

    def test_is_kept_sealed(self) -> None:
        called = uuid4().hex
        self.once(called, lambda: (200, b"a token in clear"))

        row = WriteKey.objects.get(scope="player:test", key=called)
        assert b"clear" not in bytes(row.answer or b"")

    def test_refuses_another_request_under_its_key(self) -> None:
        called = uuid4().hex
        self.once(called, lambda: (200, b"one"))

        assert refusal(lambda: self.once(called, lambda: (200, b""), 2)).code == "key_reused"

    def test_that_was_refused_does_not_bind_its_key(self) -> None:
        called = uuid4().hex

        def refuse() -> tuple[int, bytes]:
            accounts.guest()
            raise ServiceError("username_taken")

        before = Player.objects.count()
        assert refusal(lambda: self.once(called, refuse)).code == "username_taken"
        assert Player.objects.count() == before
        assert self.once(called, lambda: (200, b"two"), 2).body == b"two"

    def test_refused_by_the_database_does_not_bind_its_key(self) -> None:
        called, taken = uuid4().hex, name()
        accounts.register(username=taken, password=PASSWORD)

        def register() -> tuple[int, bytes]:
            return 201, accounts.register(username=taken, password=PASSWORD).token.encode()

        assert refusal(lambda: self.once(called, register)).code == "username_taken"
        assert not WriteKey.objects.filter(key=called).exists()

    def test_by_twins_at_once_is_done_once(self) -> None:
        called, made = uuid4().hex, []

        def effect() -> tuple[int, bytes]:
            made.append(1)
            return 200, b"%d" % len(made)

        def run() -> bytes:
            try:
                return bytes(self.once(called, effect).body)
            finally:
                connection.close()

        assert at_once(*[run] * 4) == [b"1"] * 4
        assert len(made) == 1

    def test_that_cannot_be_opened_any_more_says_so(self, settings: Any) -> None:
        called = uuid4().hex
        self.once(called, lambda: (200, b"one"))
        settings.XQMJ_SEAL_KEYS = {"another": bytes(32)}

        assert refusal(lambda: self.once(called, lambda: (200, b"two"))).code == "answer_expired"

    def test_is_forgotten_when_its_token_has_expired(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(housekeeping, "BATCH", 2)
        keys = [uuid4().hex for _ in range(6)]
        for key in keys:
            self.once(key, lambda: (200, b"one"))
        rows = WriteKey.objects.filter(scope="player:test", key__in=keys)
        rows.filter(key__in=keys[:5]).update(created_at=Now() - timedelta(days=14, seconds=1))
        rows.filter(key=keys[5]).update(created_at=Now() - timedelta(days=13, hours=23))

        forgotten = tasks.forget_expired()

        assert forgotten >= 5
        assert [row.key for row in rows] == [keys[5]]
        assert self.once(keys[0], lambda: (200, b"two")).body == b"two"
        assert tasks.forget_expired() == 0

    def test_is_looked_through_every_hour(self) -> None:
        entry = settings_of_django.CELERY_BEAT_SCHEDULE["forget-expired"]

        assert (entry["task"], entry["schedule"]) == (tasks.forget_expired.name, 3600.0)

    def test_belongs_to_whoever_asked(self) -> None:
        one = idempotency.scope_of(player=None, address="192.0.2.1")
        two = idempotency.scope_of(player=None, address="192.0.2.2")
        nowhere = [idempotency.scope_of(player=None, address=None) for _ in range(2)]

        assert one != two
        assert nowhere[0] != nowhere[1]
        assert "192.0.2.1" not in one
        assert len(one) <= 80
        assert idempotency.scope_of(player="ab", address="192.0.2.1") == "player:ab"
