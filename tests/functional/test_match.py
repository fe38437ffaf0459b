"""A whole rated match over the API, from two registrations to ratings, replay and proof."""

from __future__ import annotations

import msgspec
import pytest

from ratings.services import apply_finished
from tests.support import ahead, api
from tests.support.api import Api, InProcess, OverHttp, Player, Transport

pytestmark = pytest.mark.django_db


class TestMatch:
    def played(self, transports: tuple[Transport, Transport]) -> tuple[str, Player, Player]:
        ada, bob = (api.registered(transport) for transport in transports)
        match_id = api.begun(ada, bob, rated=True, opponent=bob.username)
        with ahead.clock() as clock:
            actions = ahead.play(match_id, (ada, bob), clock)
        assert actions > 30
        return match_id, ada, bob

    def test_goes_from_registration_to_proof(self) -> None:
        match_id, ada, bob = self.played((InProcess(), InProcess()))

        self.check_end(match_id, ada, bob)
        self.check_ratings(ada, bob)
        self.check_replay(match_id, ada)
        self.check_proof(match_id)

    def test_goes_the_same_way_over_http(self, address: str) -> None:
        match_id, ada, bob = self.played((OverHttp(address), OverHttp(address)))

        self.check_end(match_id, ada, bob)
        self.check_proof(match_id)

    def check_end(self, match_id: str, ada: Player, bob: Player) -> None:
        mine, theirs = ada.view(match_id), bob.view(match_id)
        assert mine["ended"] == theirs["ended"]
        assert mine["ended"]["reason"] == "score"
        assert len(mine["outcomes"]) == 6
        totals = [sum(hand["points"][seat] for hand in mine["outcomes"]) for seat in (0, 1)]
        assert mine["scores"] == totals
        best = None if totals[0] == totals[1] else totals.index(max(totals))
        assert mine["ended"]["winner"] == best
        (listed,) = ada.get("matches?status=finished").json["matches"]
        assert (listed["match_id"], listed["winner"], listed["scores"]) == (match_id, best, totals)

    def check_ratings(self, ada: Player, bob: Player) -> None:
        apply_finished()
        found = [ada.get(f"players/{one.username}/ratings").json for one in (ada, bob)]
        ratings = [one["ratings"][0] for one in found]
        assert [one["games"] for one in ratings] == [1, 1]
        assert {one["pool"] for one in ratings} == {"xqmj-32-2p-blitz"}
        moved = [float(one["rating"]) - 1500 for one in ratings]
        assert moved[0] == pytest.approx(-moved[1])

    def check_replay(self, match_id: str, ada: Player) -> None:
        replay = Api(InProcess()).get(f"matches/{match_id}/replay").json
        feed = ada.get(f"matches/{match_id}/events").json["events"]
        assert [line["seq"] for line in replay["events"]] == list(
            range(1, len(replay["events"]) + 1)
        )
        assert len(replay["events"]) >= len(feed)
        draws = [line for line in replay["events"] if line["kind"] == "xqmj.tile_drawn"]
        assert draws
        assert all("tile" in line["data"] for line in draws)
        mine = [line for line in feed if line["kind"] == "xqmj.tile_drawn"]
        assert all(("tile" in line["data"]) == (line["data"]["seat"] == 0) for line in mine)

    def check_proof(self, match_id: str) -> None:
        anybody = Api(InProcess())
        export = anybody.get(f"matches/{match_id}/export")
        assert export.status == 200
        report = anybody.request("POST", "verifications", body=export.raw)
        assert report.status == 200, report.raw
        assert report.json["ok"], report.json
        assert report.json["events"] == export.json["count"]
        wrong = msgspec.json.decode(export.raw)
        wrong["events"][20]["at_ms"] += 1
        found = anybody.request("POST", "verifications", body=msgspec.json.encode(wrong)).json
        assert (found["ok"], found["first_wrong"]) == (False, 21)
