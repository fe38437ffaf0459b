"""Matches against the computer, as a client sees them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from matches.bots.policies import Greedy
from matches.eventstore.pool import Unavailable
from matches.models import Player as PlayerRow
from matches.services import execute
from matches.services.computer import Computer
from matches.services.computers import IDS
from tests.support import ahead, api
from tests.support.ahead import AheadStore
from tests.support.api import InProcess, Player

pytestmark = pytest.mark.django_db

BODY = {"ruleset": "xqmj-32-2p", "control": "3+2", "computer": 3}
MISTY = {"id": IDS[2], "username": "computer-3", "kind": "computer", "level": 3}


@pytest.fixture
def guest() -> Player:
    return api.guest(InProcess())


def play(guest: Player, match_id: str, clock: AheadStore) -> int:
    """Let a guest play greedily to the end; gives the number of the computer's commands."""
    computer, played = Computer(execute.engine()), 0
    for _ in range(5_000):
        view = guest.view(match_id)
        if view["phase"] == "ended":
            return played
        if view["legal"]:
            answer = guest.act(match_id, ahead.chosen(view, Greedy()))
        elif view["phase"] == "intermission" and not view["ready"][0]:
            answer = guest.post(f"matches/{match_id}/ready")
        else:
            clock.ahead_ms += 100
            before = execute.observe(match_id=UUID(match_id)).version
            played += computer.play(UUID(match_id)).version > before
            continue
        assert answer.status == 200, answer.raw
    raise AssertionError("the match does not end")


class TestMatchAgainstTheComputer:
    def test_is_made_with_both_seats_taken_and_the_computer_ready(self, guest: Player) -> None:
        answer = guest.post("matches", BODY)

        assert answer.status == 201
        match = answer.json["match"]
        assert (match["phase"], match["ready"], match["rated"]) == (
            "readying",
            [False, True],
            False,
        )
        assert match["players"] == [guest.id, IDS[2]]
        assert answer.json["players"][0] == {"id": guest.id, "username": None, "kind": "guest"}
        assert answer.json["players"][1] == MISTY

    def test_begins_when_its_maker_is_ready(self, guest: Player) -> None:
        match_id = api.created(guest, computer=3)

        answer = guest.post(f"matches/{match_id}/ready")

        assert [one["kind"] for one in answer.json["events"]] == [
            "match.seat_ready",
            "match.hand_dealt",
        ]

    def test_goes_to_its_end(self, guest: Player, clock: AheadStore) -> None:
        match_id = api.created(guest, computer=3)
        assert guest.post(f"matches/{match_id}/ready").status == 200

        played = play(guest, match_id, clock)

        ended = guest.view(match_id)
        assert (ended["ended"]["reason"], len(ended["outcomes"])) == ("score", 6)
        lines = guest.get(f"matches/{match_id}/replay").json["events"]
        acted = [one["kind"] for one in lines if one["actor"] == 1]
        assert len(acted) == played + 1, "it was ready once before the worker had anything to do"
        assert acted.count("match.seat_ready") <= 6
        assert guest.get("matches?status=finished").json["matches"][0]["players"][1] == MISTY
        exported = guest.get(f"matches/{match_id}/export")
        proof = guest.request("POST", "verifications", body=exported.raw)
        assert proof.json["ok"], proof.json["message"]

    def test_is_the_same_for_a_repeated_request(self, guest: Player) -> None:
        first, second = (guest.post("matches", BODY, key="once") for _ in range(2))
        other = guest.post("matches", {**BODY, "computer": 4}, key="once")

        assert (first.status, second.status) == (201, 201)
        assert first.json["match"] == second.json["match"]
        assert (other.status, other.code) == (409, "key_reused")

    def test_stands_although_the_computer_could_not_get_ready(
        self, guest: Player, monkeypatch: pytest.MonkeyPatch, clock: AheadStore
    ) -> None:
        def away(**_: Any) -> Any:
            raise Unavailable("gone")

        with monkeypatch.context() as patch:
            patch.setattr(clock, "append", away)
            answer = guest.post("matches", BODY)
        match_id = UUID(answer.json["match"]["match_id"])

        assert (answer.status, answer.json["match"]["ready"]) == (201, [False, False])
        assert Computer(execute.engine()).play(match_id).match.ready == (False, True)

    def test_lets_nobody_join(self, guest: Player) -> None:
        match_id = api.created(guest, computer=3)

        assert api.guest(InProcess()).post(f"matches/{match_id}/join").code == "seat_taken"


class TestPlayer:
    def test_of_a_level_is_shown_with_it(self, guest: Player) -> None:
        answer = guest.get("players/computer-3")

        assert answer.json == {"player": MISTY}

    def test_is_one_a_level_and_never_logs_in(self) -> None:
        rows = PlayerRow.objects.filter(kind="computer").order_by("username")

        assert [(row.username, row.public_id.hex) for row in rows] == [
            (f"computer-{level}", public_id) for level, public_id in enumerate(IDS, 1)
        ]
        assert not any(row.is_active or row.has_usable_password() for row in rows)
        login = {"username": "computer-3", "password": "!"}
        assert api.Api(InProcess()).post("auth/login", login, key="k" * 16).code == (
            "bad_credentials"
        )

    def test_takes_no_token(self) -> None:
        from knox.models import AuthToken

        _, token = AuthToken.objects.create(user=PlayerRow.objects.get(username="computer-3"))

        assert api.Api(InProcess(), token).get("me").code == "bad_token"

    def test_s_name_is_nobody_else_s(self) -> None:
        body = {"username": "computer-9", "password": api.PASSWORD}

        assert api.Api(InProcess()).post("auth/register", body, key="r" * 16).code == (
            "username_reserved"
        )
