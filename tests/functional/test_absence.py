"""A seat goes in its turn; the other is told, and claims the win (XM-87)."""

from __future__ import annotations

from typing import Any

import pytest

from matches.eventstore import pool
from matches.services import presence
from tests.support import api
from tests.support.ahead import AheadStore
from tests.support.api import InProcess, Player

pytestmark = pytest.mark.django_db

Table = tuple[Player, Player, str]


@pytest.fixture
def table(clock: AheadStore) -> Table:
    """Who is to discard first, the other, and their match, dealt at the clock's beginning."""
    assert clock.ahead_ms == 0
    one, other = (api.registered(InProcess()) for _ in range(2))
    match_id = api.begun(one, other)
    dealer = one.get(f"matches/{match_id}").json["match"]["dealer"]
    presence.flush()
    return (one, other, match_id) if dealer == 0 else (other, one, match_id)


def seen(player: Player, at_ms: int) -> None:
    """Put on record that the player was there at an instant."""
    pool.run(
        "INSERT INTO matches_presence VALUES (%s, %s)"
        " ON CONFLICT (player) DO UPDATE SET seen_ms = excluded.seen_ms RETURNING 1",
        (player.id, str(at_ms)),
    )


def absent(player: Player, match_id: str) -> Any:
    """What the player is told of the other's absence: the same beside the view and its events."""
    view = player.get(f"matches/{match_id}").json["now"].get("absent")
    events = player.get(f"matches/{match_id}/events").json["now"].get("absent")
    assert view == events
    return view


def claim(player: Player, match_id: str) -> Any:
    return player.post(f"matches/{match_id}/claim-absence")


class TestAbsence:
    def test_is_told_to_the_other_seat_and_claimed(self, table: Table, clock: AheadStore) -> None:
        gone, waiting, match_id = table
        dealt_ms = waiting.get(f"matches/{match_id}").json["match"]["clocks"]["from_ms"]
        seen(gone, dealt_ms - 60_000)
        assert absent(waiting, match_id) is None

        clock.ahead_ms = 10_000
        told = absent(waiting, match_id)
        seat = waiting.get(f"matches/{match_id}").json["match"]["clocks"]["running"]
        assert told == {"seat": seat, "since_ms": dealt_ms, "claim_at_ms": dealt_ms + 60_000}
        early = claim(waiting, match_id)
        assert (early.status, early.json["code"]) == (409, "not_absent")
        assert early.json["facts"]["claim_at_ms"] == dealt_ms + 60_000

        clock.ahead_ms = 60_000
        done = claim(waiting, match_id)

        assert done.status == 200, done.json
        (event,) = done.json["events"]
        assert event["kind"] == "match.ended"
        assert (event["data"]["reason"], event["data"]["winner"]) == ("absence", 1 - seat)

    def test_is_over_with_any_request_of_the_seat(self, table: Table, clock: AheadStore) -> None:
        gone, waiting, match_id = table
        dealt_ms = waiting.get(f"matches/{match_id}").json["match"]["clocks"]["from_ms"]
        seen(gone, dealt_ms + 30_000)
        clock.ahead_ms = 60_000

        refused = claim(waiting, match_id)

        # Five seconds are allowed for what was not written down yet.
        assert (refused.status, refused.json["code"]) == (409, "not_absent")
        assert refused.json["facts"]["claim_at_ms"] == dealt_ms + 95_000
        assert absent(waiting, match_id)["since_ms"] == dealt_ms + 35_000

    def test_a_request_puts_the_player_on_record(self, table: Table) -> None:
        gone, _, _ = table
        seen(gone, 5)
        assert gone.get("me").status == 200
        presence.flush()

        ((seen_ms,),) = pool.run(
            "SELECT seen_ms FROM matches_presence WHERE player = %s", (gone.id,)
        ).rows
        assert seen_ms > 1_700_000_000_000

    def test_is_not_told_to_the_seat_itself_nor_to_anybody_else(
        self, table: Table, clock: AheadStore
    ) -> None:
        gone, _, match_id = table
        seen(gone, 5)
        clock.ahead_ms = 59_000
        stranger = api.registered(InProcess())

        assert absent(gone, match_id) is None
        assert absent(stranger, match_id) is None
        refused = claim(gone, match_id)
        assert (refused.status, refused.json["code"]) == (409, "not_absent")
        assert not refused.json.get("facts")
        assert claim(stranger, match_id).json["code"] == "not_a_seat"

    def test_makes_another_entity_tag(self, table: Table, clock: AheadStore) -> None:
        gone, waiting, match_id = table
        seen(gone, 5)
        tag = waiting.get(f"matches/{match_id}").headers["etag"]
        clock.ahead_ms = 9_999
        assert waiting.get(f"matches/{match_id}").headers["etag"] == tag

        clock.ahead_ms = 10_000

        assert waiting.get(f"matches/{match_id}").headers["etag"] != tag

    def test_never_is_the_computer_s(self, clock: AheadStore) -> None:
        person = api.registered(InProcess())
        made = person.post(
            "matches", {"ruleset": "xqmj-32-2p", "control": "10+5", "computer": 1}
        ).json
        match_id = made["match"]["match_id"]
        person.post(f"matches/{match_id}/ready")
        view = person.get(f"matches/{match_id}").json
        if view["match"]["clocks"]["running"] == 0:
            action = next(one for one in view["match"]["legal"] if one["type"] == "discard")
            person.post(f"matches/{match_id}/act", {"action": action})
        clock.ahead_ms = 100_000

        assert absent(person, match_id) is None
        assert claim(person, match_id).json["code"] == "not_absent"


def test_a_repeated_claim_is_answered_as_the_first(table: Table, clock: AheadStore) -> None:
    gone, waiting, match_id = table
    seen(gone, 5)
    clock.ahead_ms = 60_000

    first, again = (
        waiting.post(f"matches/{match_id}/claim-absence", key="the-one-claim") for _ in range(2)
    )

    assert first.json["events"] == again.json["events"]
    assert first.status == again.status == 200
