"""Tokens that have expired are deleted; whoever they spoke for stays in the records."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from knox.models import AuthToken

from matches import tasks
from matches.models import Player
from matches.services import accounts, housekeeping, tokens
from matches.services.accounts import Session

pytestmark = pytest.mark.django_db(transaction=True)


def guest(*, left: timedelta) -> Session:
    """A guest whose token has so long to live."""
    session = accounts.guest()
    AuthToken.objects.filter(digest=tokens.digest_of(session.token)).update(expiry=Now() + left)
    return session


def are_kept(*sessions: Session) -> list[bool]:
    return [
        AuthToken.objects.filter(digest=tokens.digest_of(session.token)).exists()
        for session in sessions
    ]


class TestTokens:
    def test_are_deleted_when_they_have_expired(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(housekeeping, "BATCH", 2)
        expired = [guest(left=timedelta(seconds=-1)) for _ in range(5)]
        living = guest(left=timedelta(minutes=1))

        forgotten = tasks.forget_expired()

        assert forgotten >= 5
        assert are_kept(*expired, living) == [False] * 5 + [True]

    def test_that_never_expire_are_kept(self) -> None:
        session = accounts.guest()
        AuthToken.objects.filter(digest=tokens.digest_of(session.token)).update(expiry=None)

        tasks.forget_expired()

        assert are_kept(session) == [True]

    def test_leave_the_player_they_spoke_for(self) -> None:
        session = guest(left=timedelta(seconds=-1))

        tasks.forget_expired()

        assert Player.objects.filter(public_id=session.identity.id).exists()
