"""The lobby over REST: what is asked twice is done once, and both learn of their match."""

from __future__ import annotations

import pytest

from matches.models import Pairing
from tests.functional.test_schema import check
from tests.support import api
from tests.support.ahead import AheadStore
from tests.support.api import InProcess, Player

pytestmark = pytest.mark.django_db

SEEK = {"ruleset": "xqmj-32-2p", "control": "3+2"}


@pytest.fixture
def ada() -> Player:
    return api.registered(InProcess())


@pytest.fixture
def bob() -> Player:
    return api.registered(InProcess())


def listed(player: Player, seek_id: str) -> bool:
    """Whether the player finds the seek among the open ones."""
    found = player.get("seeks").json
    check("SeeksAnswer", found)
    return seek_id in [seek["id"] for seek in found["seeks"]]


class TestSeek:
    def test_shows_what_is_looked_for(self, ada: Player) -> None:
        answer = ada.post("seeks", {**SEEK, "rated": True, "rating_min": 1400, "rating_max": 1600})

        seek = answer.json["seek"]
        check("SeekAnswer", answer.json)
        assert seek["player"] == {"id": ada.id, "username": ada.username, "kind": "registered"}
        assert seek["options"]["last_discard_claims"] == "win_only"
        assert (seek["rating"], seek["rating_min"], seek["rating_max"]) == (1500, 1400, 1600)
        assert seek["match_id"] is None
        assert seek["expires_at_ms"] - seek["created_at_ms"] == 900_000

    def test_repeated_is_the_same(self, ada: Player) -> None:
        first, again = (ada.post("seeks", SEEK, key="one") for _ in range(2))
        other = ada.post("seeks", {**SEEK, "control": "1+1"}, key="one")

        assert (first.status, first.raw) == (again.status, again.raw)
        assert first.status == 201
        assert other.code == "key_reused"

    def test_ends_by_itself(self, ada: Player, clock: AheadStore) -> None:
        seek_id = api.sought(ada)
        clock.ahead_ms += 899_999
        before = listed(ada, seek_id)
        clock.ahead_ms += 1

        assert (before, listed(ada, seek_id)) == (True, False)
        assert ada.get("seeks").json["mine"] == []


class TestClosing:
    def test_repeated_answers_the_same(self, ada: Player) -> None:
        seek_id = api.sought(ada)

        first, again = (ada.delete(f"seeks/{seek_id}", key="close") for _ in range(2))

        assert [first.status, again.status] == [204, 204]
        assert ada.delete(f"seeks/{seek_id}").code == "unknown_seek"
        assert not listed(ada, seek_id)


class TestAccepting:
    def test_tells_both_of_the_match(self, ada: Player, bob: Player) -> None:
        seek_id = api.sought(ada)

        answer = bob.post(f"seeks/{seek_id}/accept", key="accept")

        match_id = answer.json["match"]["match_id"]
        assert (answer.status, answer.json["match"]["you"]) == (201, 1)
        (mine,) = ada.get("seeks").json["mine"]
        assert mine["match_id"] == match_id
        assert ada.view(match_id)["you"] == 0
        assert not listed(bob, seek_id)

    def test_repeated_shows_the_match(self, ada: Player, bob: Player) -> None:
        seek_id = api.sought(ada)

        first, again = (bob.post(f"seeks/{seek_id}/accept", key="accept") for _ in range(2))

        assert again.status == first.status == 201
        assert again.json["match"]["match_id"] == first.json["match"]["match_id"]
        other = api.sought(api.registered(InProcess()))
        assert bob.post(f"seeks/{other}/accept", key="accept").code == "key_reused"

    def test_of_a_guest_is_casual(self, ada: Player) -> None:
        guest = api.guest(InProcess())

        answer = guest.post(f"seeks/{api.sought(ada)}/accept")

        assert (answer.status, answer.json["match"]["rated"]) == (201, False)


class TestCoolingDown:
    def test_says_when_to_go_on(self, ada: Player, bob: Player, clock: AheadStore) -> None:
        for _ in range(3):
            match_id = api.paired(ada, bob)
            assert ada.post(f"matches/{match_id}/leave").status == 200
        clock.ahead_ms += 500

        refused = ada.post("seeks", SEEK, key="one")

        assert (refused.status, refused.code) == (429, "cooling_down")
        assert refused.headers["retry-after"] == "900"
        assert bob.post("seeks", SEEK).status == 201
        clock.ahead_ms += 899_500
        assert ada.post("seeks", SEEK, key="one").status == 201


class TestPairing:
    @pytest.fixture(autouse=True)
    def _nobody_waits(self) -> None:
        Pairing.objects.all().delete()

    def test_tells_both_of_the_match(self, ada: Player, bob: Player) -> None:
        first = ada.post("pairing", {**SEEK, "rated": True})
        waiting = ada.get("pairing")
        bob.post("pairing", {**SEEK, "rated": True})

        for answer in (first, waiting):
            check("PairingAnswer", answer.json)
        assert (first.status, first.json) == (201, waiting.json)
        assert waiting.json["pairing"]["match_id"] is None
        assert waiting.json["pairing"]["rating"] == 1500
        found = [player.get("pairing").json["pairing"]["match_id"] for player in (ada, bob)]
        assert found[0] == found[1]
        assert {ada.view(found[0])["you"], bob.view(found[0])["you"]} == {0, 1}

    def test_repeated_waits_once(self, ada: Player) -> None:
        first, again = (ada.post("pairing", SEEK, key="one") for _ in range(2))

        assert (first.status, first.raw) == (again.status, again.raw)
        assert ada.post("pairing", SEEK).code == "already_waiting"
        assert ada.post("pairing", {**SEEK, "control": "1+1"}, key="one").code == "key_reused"

    def test_is_left_once(self, ada: Player, bob: Player) -> None:
        ada.post("pairing", SEEK)

        first, again = (ada.delete("pairing", key="leave") for _ in range(2))

        assert [first.status, again.status] == [204, 204]
        assert ada.get("pairing").json == {"pairing": None}
        bob.post("pairing", SEEK)
        assert bob.get("pairing").json["pairing"]["match_id"] is None

    def test_ends_by_itself(self, ada: Player, clock: AheadStore) -> None:
        ada.post("pairing", SEEK)
        clock.ahead_ms += 599_999
        before = ada.get("pairing").json["pairing"]
        clock.ahead_ms += 1

        assert before is not None
        assert ada.get("pairing").json == {"pairing": None}
