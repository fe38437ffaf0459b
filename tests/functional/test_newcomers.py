"""What an account may make in its first day."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from matches.models import Player as PlayerRow
from matches.services import newcomers
from matches.services.throttling import DEFAULTS
from tests.support import api
from tests.support.api import Answer, InProcess, Player

pytestmark = pytest.mark.django_db

TERMS = {"ruleset": "xqmj-32-2p", "control": "3+2"}
LIMIT = "2/86400"


@pytest.fixture(autouse=True)
def _limited(settings: Any) -> None:
    scopes = ("new_match", "new_seek", "new_challenge")
    settings.XQMJ_THROTTLES = {**settings.XQMJ_THROTTLES, **dict.fromkeys(scopes, LIMIT)}
    newcomers._created_ms.cache_clear()


def make(path: str, player: Player, opponent: Player) -> Answer:
    body = {**TERMS, "opponent": opponent.username} if path == "challenges" else TERMS
    return player.post(path, body)


@pytest.mark.parametrize("path", ["matches", "seeks", "challenges"])
class TestNewAccount:
    def test_makes_so_many_a_day_and_is_told_when_again(self, path: str) -> None:
        ada = api.registered(InProcess())
        others = [api.registered(InProcess()) for _ in range(3)]

        answers = [make(path, ada, other) for other in others]

        # A second seek is refused for the first one, but counted.
        assert answers[0].status == 201
        assert (answers[2].status, answers[2].code) == (429, "new_account_limit")
        assert 86_000 < int(answers[2].headers["retry-after"]) <= 86_400

    def test_is_none_after_a_day(self, path: str) -> None:
        ada = api.registered(InProcess())
        PlayerRow.objects.filter(public_id=ada.id).update(
            created_at=Now() - timedelta(milliseconds=newcomers.NEW_MS)
        )
        others = [api.registered(InProcess()) for _ in range(3)]

        answers = [make(path, ada, other) for other in others]

        assert "new_account_limit" not in [answer.code for answer in answers]


def test_limits_are_those_that_are_documented() -> None:
    assert [DEFAULTS[scope].count for scope in ("new_match", "new_seek", "new_challenge")] == [
        100,
        100,
        40,
    ]
