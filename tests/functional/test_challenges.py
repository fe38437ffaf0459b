"""Challenges over REST: both are told, and what is asked twice is done once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functional.test_schema import check
from tests.support import api
from tests.support.ahead import AheadStore
from tests.support.api import InProcess, Player

pytestmark = pytest.mark.django_db

TERMS = {"ruleset": "xqmj-32-2p", "control": "3+2"}


@pytest.fixture
def ada() -> Player:
    return api.registered(InProcess())


@pytest.fixture
def bob() -> Player:
    return api.registered(InProcess())


def lists(player: Player) -> tuple[list[Any], list[Any]]:
    """What the player has received and sent."""
    found = player.get("challenges").json
    check("ChallengesAnswer", found)
    return found["received"], found["sent"]


class TestChallenge:
    def test_is_shown_to_both_and_nobody_else(self, ada: Player, bob: Player) -> None:
        body = {**TERMS, "rated": True, "opponent": bob.username.upper()}

        answer = ada.post("challenges", body)

        one = answer.json["challenge"]
        check("ChallengeAnswer", answer.json)
        assert one["challenger"] == {"id": ada.id, "username": ada.username, "kind": "registered"}
        assert one["opponent"] == {"id": bob.id, "username": bob.username, "kind": "registered"}
        assert one["options"] == {"last_discard_claims": "win_only", "absence_claim_ms": 60_000}
        assert (one["rated"], one["declined"], one["match_id"]) == (True, None, None)
        assert one["expires_at_ms"] - one["created_at_ms"] == 3_600_000
        assert lists(ada) == ([], [one])
        assert lists(bob) == ([one], [])
        assert lists(api.registered(InProcess())) == ([], [])

    def test_repeated_is_the_same(self, ada: Player, bob: Player) -> None:
        body = {**TERMS, "opponent": bob.username}

        first, again = (ada.post("challenges", body, key="one") for _ in range(2))
        other = ada.post("challenges", {**body, "control": "1+1"}, key="one")

        assert (first.status, first.raw) == (again.status, again.raw)
        assert other.code == "key_reused"
        assert ada.post("challenges", body).code == "challenge_open"

    def test_ends_by_itself(self, ada: Player, bob: Player, clock: AheadStore) -> None:
        challenge_id = api.challenged(ada, bob)
        clock.ahead_ms += 3_599_999
        before = len(lists(bob)[0])
        clock.ahead_ms += 1

        assert (before, lists(bob), lists(ada)) == (1, ([], []), ([], []))
        assert bob.post(f"challenges/{challenge_id}/accept").code == "unknown_challenge"

    def test_of_a_guest_is_casual(self, bob: Player) -> None:
        guest = api.guest(InProcess())

        answer = bob.post(f"challenges/{api.challenged(guest, bob)}/accept")

        assert (answer.status, answer.json["match"]["rated"]) == (201, False)


class TestAccepting:
    def test_tells_both_of_the_match(self, ada: Player, bob: Player) -> None:
        challenge_id = api.challenged(ada, bob)

        answer = bob.post(f"challenges/{challenge_id}/accept")

        match_id = answer.json["match"]["match_id"]
        assert (answer.status, answer.json["match"]["you"]) == (201, 1)
        assert [one["match_id"] for one in lists(ada)[1]] == [match_id]
        assert [one["match_id"] for one in lists(bob)[0]] == [match_id]
        assert ada.view(match_id)["you"] == 0

    def test_repeated_shows_the_match(self, ada: Player, bob: Player) -> None:
        path = f"challenges/{api.challenged(ada, bob)}/accept"

        first, again, third = (bob.post(path, key=key) for key in ("k", "k", None))

        assert first.status == again.status == third.status == 201
        ids = {one.json["match"]["match_id"] for one in (first, again, third)}
        assert len(ids) == 1


class TestDeclining:
    @pytest.mark.parametrize(
        ("body", "reason"),
        [({}, "generic"), ({"reason": "too_fast"}, "too_fast"), ({"reason": "no_bots"}, "no_bots")],
    )
    def test_tells_the_reason(
        self, ada: Player, bob: Player, body: dict[str, str], reason: str
    ) -> None:
        challenge_id = api.challenged(ada, bob)

        first, again = (
            bob.post(f"challenges/{challenge_id}/decline", body, key="no") for _ in range(2)
        )

        assert (first.status, first.raw) == (again.status, again.raw)
        check("ChallengeAnswer", first.json)
        assert first.json["challenge"]["declined"] == reason
        assert [one["declined"] for one in lists(ada)[1]] == [reason]
        assert bob.post(f"challenges/{challenge_id}/accept").code == "challenge_over"


class TestCancelling:
    def test_repeated_answers_the_same(self, ada: Player, bob: Player) -> None:
        challenge_id = api.challenged(ada, bob)

        first, again = (ada.delete(f"challenges/{challenge_id}", key="k") for _ in range(2))

        assert [first.status, again.status] == [204, 204]
        assert lists(bob) == ([], [])
        assert ada.delete(f"challenges/{challenge_id}").code == "unknown_challenge"
