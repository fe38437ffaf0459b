"""Rematches over REST: one call offers and accepts, and what is asked twice is done once."""

from __future__ import annotations

from typing import Any

import pytest

from matches.models import Rematch
from matches.services import rematches
from matches.services.computers import IDS
from matches.services.errors import unavailable
from tests.functional.test_schema import check
from tests.support import api
from tests.support.ahead import AheadStore
from tests.support.api import InProcess, Player

pytestmark = pytest.mark.django_db


@pytest.fixture
def seats() -> tuple[Player, Player]:
    return api.registered(InProcess()), api.registered(InProcess())


@pytest.fixture
def old(seats: tuple[Player, Player]) -> str:
    match_id = api.begun(*seats)
    assert seats[0].post(f"matches/{match_id}/resign").status == 200
    return match_id


def state(player: Player, match_id: str) -> Any:
    """What the player finds of the rematch."""
    found = player.get(f"matches/{match_id}/rematch").json
    check("RematchAnswer", found)
    return found["rematch"]


class TestRematch:
    def test_is_offered_and_accepted_by_the_same_call(
        self, seats: tuple[Player, Player], old: str
    ) -> None:
        ada, bob = seats
        assert state(bob, old) is None
        offered = bob.post(f"matches/{old}/rematch")
        waiting = state(ada, old)

        agreed = ada.post(f"matches/{old}/rematch")

        for answer in (offered, agreed):
            check("RematchAgreed", answer.json)
        assert (offered.status, offered.json) == (201, {"rematch_of": old, "match_id": None})
        assert (waiting["seat"], waiting["match_id"]) == (1, None)
        assert waiting["expires_at_ms"] - waiting["created_at_ms"] == 600_000
        new = agreed.json["match_id"]
        assert state(bob, old)["match_id"] == new
        assert [one.view(new)["you"] for one in seats] == [0, 1]
        assert ada.view(new)["rematch_of"] == old
        assert "rematch_of" not in ada.view(old)
        (line,) = ada.get(f"matches/{new}/events").json["events"]
        assert line["data"]["rematch_of"] == old

    def test_has_the_other_first_dealer(self, seats: tuple[Player, Player], old: str) -> None:
        before = seats[0].view(old)["dealer"]
        for player in seats:
            player.post(f"matches/{old}/rematch")
        new = state(seats[0], old)["match_id"]

        for player in seats:
            assert player.post(f"matches/{new}/ready").status == 200

        assert seats[0].view(new)["dealer"] == 1 - before

    def test_repeated_answers_the_same_for_ever(
        self, seats: tuple[Player, Player], old: str
    ) -> None:
        ada, bob = seats
        offered = ada.post(f"matches/{old}/rematch", key="k")
        agreed = bob.post(f"matches/{old}/rematch", key="k")
        Rematch.objects.all().delete()

        assert ada.post(f"matches/{old}/rematch", key="k").raw == offered.raw
        assert bob.post(f"matches/{old}/rematch", key="k").raw == agreed.raw
        assert not Rematch.objects.exists()

    def test_of_a_computer_s_match_is_made_when_its_answer_is_repeated(
        self, seats: tuple[Player, Player], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ada, _ = seats
        old = api.created(ada, computer=1)
        assert ada.post(f"matches/{old}/ready").status == 200
        assert ada.post(f"matches/{old}/resign").status == 200

        def away(_match_id: Any) -> None:
            raise unavailable()

        with monkeypatch.context() as broken:
            broken.setattr(rematches, "finish", away)
            assert ada.post(f"matches/{old}/rematch", key="k").status == 503
        again = ada.post(f"matches/{old}/rematch", key="k")

        assert again.status == 201
        assert ada.get(f"matches/{again.json['match_id']}").status == 200

    def test_key_of_an_offer_is_none_for_taking_it_back(
        self, seats: tuple[Player, Player], old: str
    ) -> None:
        ada, _ = seats
        assert ada.post(f"matches/{old}/rematch", key="k").status == 201

        assert ada.delete(f"matches/{old}/rematch", key="k").code == "key_reused"
        assert ada.delete(f"matches/{old}/rematch", key="l").status == 204

    def test_an_old_offer_repeated_accepts_nothing(
        self, seats: tuple[Player, Player], old: str
    ) -> None:
        ada, bob = seats
        offered = ada.post(f"matches/{old}/rematch", key="k")
        assert bob.delete(f"matches/{old}/rematch").status == 204
        bob.post(f"matches/{old}/rematch")

        assert ada.post(f"matches/{old}/rematch", key="k").raw == offered.raw
        assert state(ada, old)["match_id"] is None

    def test_under_the_key_of_another_request_is_refused(
        self, seats: tuple[Player, Player], old: str
    ) -> None:
        ada, bob = seats
        ada.post(f"matches/{old}/rematch")
        bob.post(f"matches/{old}/rematch", key="k")
        other = api.begun(*seats)
        assert ada.post(f"matches/{other}/resign").status == 200

        assert bob.post(f"matches/{other}/rematch", key="k").code == "key_reused"

    def test_is_declined_once(self, seats: tuple[Player, Player], old: str) -> None:
        ada, bob = seats
        ada.post(f"matches/{old}/rematch")

        first, again = (bob.delete(f"matches/{old}/rematch", key="no") for _ in range(2))

        assert [first.status, again.status] == [204, 204]
        assert state(ada, old) is None
        assert bob.delete(f"matches/{old}/rematch").code == "no_rematch_offered"

    def test_ends_by_itself(
        self, seats: tuple[Player, Player], old: str, clock: AheadStore
    ) -> None:
        ada, bob = seats
        ada.post(f"matches/{old}/rematch")
        clock.ahead_ms += 599_999
        before = state(bob, old)
        clock.ahead_ms += 1

        assert before is not None
        assert state(bob, old) is None
        assert bob.post(f"matches/{old}/rematch").json["match_id"] is None

    def test_against_the_computer_begins_at_once(self) -> None:
        guest = api.guest(InProcess())
        old = api.created(guest, computer=3)
        for step in ("ready", "resign"):
            assert guest.post(f"matches/{old}/{step}").status == 200

        first, again = (guest.post(f"matches/{old}/rematch", key=key) for key in ("k", "k"))

        new = first.json["match_id"]
        assert first.raw == again.raw
        view = guest.view(new)
        assert (view["players"], view["ready"]) == ([guest.id, IDS[2]], [False, True])
        assert guest.post(f"matches/{old}/rematch").json["match_id"] == new
