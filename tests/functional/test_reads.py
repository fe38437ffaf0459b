"""Views, feeds and lists: what they hold, how they are cached, and how polls wait."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest
from django.db import connections
from knox.models import AuthToken

from matches.models import Player as PlayerRow
from matches.services import people, tokens
from tests.support import api, sitting
from tests.support.ahead import AheadStore
from tests.support.api import Answer, Api, InProcess, Player

pytestmark = pytest.mark.django_db

Rig = Callable[[tuple[str, ...]], None]
DISCARD = {"type": "discard", "tile": "rC", "drawn": False}


@pytest.fixture
def seats() -> tuple[Player, Player]:
    return api.registered(InProcess()), api.registered(InProcess())


@pytest.fixture
def live(rigged: Rig, clock: AheadStore, seats: tuple[Player, Player]) -> str:  # noqa: ARG001
    rigged(sitting.CHOW_OFFERED)
    return api.begun(*seats)


class TestView:
    def test_shows_a_seat_its_own_tiles(self, live: str, seats: tuple[Player, Player]) -> None:
        mine, theirs = (seat.view(live)["hand"]["sides"] for seat in seats)

        assert mine[0]["concealed"] == ["rA", "rC", "bK", "bR", "bH"]
        assert mine[1] == {"held": 4}
        assert theirs[1]["concealed"] == ["rR", "rH", "bE", "bP"]
        assert theirs[0] == {"held": 5}

    def test_shows_a_stranger_nobodys(self, live: str) -> None:
        view = api.registered(InProcess()).view(live)

        assert view["you"] is None
        assert view["legal"] is None
        assert view["hand"]["sides"] == [{"held": 5}, {"held": 4}]

    def test_names_the_players(self, live: str, seats: tuple[Player, Player]) -> None:
        answer = seats[0].get(f"matches/{live}").json

        assert answer["players"] == [
            {"id": seat.id, "username": seat.username, "kind": "registered"} for seat in seats
        ]
        assert answer["match"]["players"] == [seat.id for seat in seats]

    def test_keeps_the_seats_of_players_that_are_known(
        self, live: str, seats: tuple[Player, Player]
    ) -> None:
        PlayerRow.objects.filter(public_id=seats[0].id).update(public_id=uuid4())
        people._remembered = people._Remembered()

        answer = seats[1].get(f"matches/{live}").json
        (listed,) = seats[1].get("matches").json["matches"]

        ben = {"id": seats[1].id, "username": seats[1].username, "kind": "registered"}
        assert answer["players"] == listed["players"] == [None, ben]

    def test_shows_a_free_seat(self, seats: tuple[Player, Player]) -> None:
        made = api.created(seats[0])

        answer = seats[0].get(f"matches/{made}").json
        listed = seats[0].get("matches").json["matches"][0]

        ada = {"id": seats[0].id, "username": seats[0].username, "kind": "registered"}
        assert answer["players"] == listed["players"] == [ada, None]

    def test_never_shows_how_the_log_counts(self, live: str, seats: tuple[Player, Player]) -> None:
        raw = seats[0].get(f"matches/{live}").raw

        for word in (b"version", b"head_hash", b"xid", b"sealed", b"key_id", b"secret"):
            assert word not in raw.replace(b"rules_version", b""), word

    def test_is_found_by_both_spellings_of_its_id(
        self, live: str, seats: tuple[Player, Player]
    ) -> None:
        parts = (live[:8], live[8:12], live[12:16], live[16:20], live[20:])

        assert seats[0].view("-".join(parts)) == seats[0].view(live)


class TestEtag:
    def test_stays_while_nothing_is_seen_to_happen(
        self, live: str, seats: tuple[Player, Player], clock: AheadStore
    ) -> None:
        first = seats[0].get(f"matches/{live}")
        clock.ahead_ms += 700

        again = seats[0].get(f"matches/{live}")

        assert again.headers["etag"] == first.headers["etag"]
        assert again.json["now"] != first.json["now"]

    def test_lets_a_client_keep_what_it_has(self, live: str, seats: tuple[Player, Player]) -> None:
        etag = seats[0].get(f"matches/{live}").headers["etag"]

        answer = seats[0].get(f"matches/{live}", If_None_Match=etag)

        assert (answer.status, answer.raw, answer.headers["etag"]) == (304, b"", etag)
        assert etag.startswith('W/"')

    def test_comes_with_the_time_that_it_does_not_cover(
        self, live: str, seats: tuple[Player, Player]
    ) -> None:
        full = seats[0].get(f"matches/{live}")
        kept = seats[0].get(f"matches/{live}", If_None_Match=full.headers["etag"])
        others = [
            seats[0].get(f"matches/{live}/events"),
            seats[0].act(live, DISCARD),
            seats[0].post("matches", {"ruleset": "xqmj-32-2p", "control": "3+2"}),
        ]

        for answer in (full, *others):
            stated = int(answer.headers["x-server-time-ms"])
            assert stated == answer.json["now"]["server_time_ms"]
        assert int(kept.headers["x-server-time-ms"]) >= full.json["now"]["server_time_ms"]

    def test_is_each_viewers_own(self, live: str, seats: tuple[Player, Player]) -> None:
        etags = [seat.get(f"matches/{live}").headers["etag"] for seat in seats]

        assert etags[0] != etags[1]
        assert seats[1].get(f"matches/{live}", If_None_Match=etags[0]).status == 200

    def test_changes_with_a_move(self, live: str, seats: tuple[Player, Player]) -> None:
        before = [seat.get(f"matches/{live}").headers["etag"] for seat in seats]
        assert seats[0].act(live, DISCARD).status == 200

        after = [seat.get(f"matches/{live}").headers["etag"] for seat in seats]

        assert before[0] != after[0]
        assert before[1] != after[1]


class TestEvents:
    def test_are_numbered_from_one_for_each_viewer(
        self, live: str, seats: tuple[Player, Player]
    ) -> None:
        assert seats[0].act(live, DISCARD).status == 200
        assert seats[1].act(live, {"type": "pass"}).status == 200

        feeds = [seat.get(f"matches/{live}/events").json for seat in seats]

        for feed in feeds:
            assert [line["seq"] for line in feed["events"]] == list(range(1, feed["seq"] + 1))
        assert feeds[1]["seq"] == feeds[0]["seq"] + 1
        assert feeds[1]["events"][-1]["kind"] == "xqmj.claim_passed"

    def test_go_on_after_one(self, live: str, seats: tuple[Player, Player]) -> None:
        whole = seats[0].get(f"matches/{live}/events").json["events"]

        assert seats[0].get(f"matches/{live}/events?after=3").json["events"] == whole[3:]

    def test_come_empty_where_there_are_none_yet(
        self, live: str, seats: tuple[Player, Player]
    ) -> None:
        answer = seats[0].get(f"matches/{live}/events?after=5").json

        assert (answer["seq"], answer["events"]) == (5, [])


HELD_UP_S = 20
"""Far more than any poll takes but one that waits for the 25 seconds it was given."""


def poll(player: Player, match_id: str, *, after: int, wait: int) -> tuple[Answer, float]:
    """A poll, and how long it took in seconds."""
    began = time.monotonic()
    try:
        answer = player.get(f"matches/{match_id}/events?after={after}&wait={wait}")
    finally:
        connections.close_all()
    return answer, time.monotonic() - began


class TestLongPoll:
    def test_ends_with_the_move_it_waits_for(self, live: str, seats: tuple[Player, Player]) -> None:
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(poll, seats[1], live, after=5, wait=20)
            time.sleep(0.3)
            assert seats[0].act(live, DISCARD).status == 200
            answer, took_s = waiting.result(timeout=HELD_UP_S)

        assert [line["kind"] for line in answer.json["events"]] == ["xqmj.tile_discarded"]
        assert 0.2 < took_s < HELD_UP_S

    def test_does_not_end_with_what_the_other_seat_passes(
        self, live: str, seats: tuple[Player, Player]
    ) -> None:
        assert seats[0].act(live, DISCARD).status == 200
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(poll, seats[0], live, after=6, wait=1)
            time.sleep(0.2)
            assert seats[1].act(live, {"type": "pass"}).status == 200
            answer, took_s = waiting.result(timeout=HELD_UP_S)

        assert (answer.json["seq"], answer.json["events"]) == (6, [])
        assert took_s >= 1

    def test_is_refused_once_its_token_was_revoked(
        self, live: str, seats: tuple[Player, Player], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It was revoked by another process, while the poll waited."""
        monkeypatch.setattr(tokens, "TRUSTED_S", 0.0)
        tokens.forget_all()
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(poll, seats[1], live, after=5, wait=20)
            time.sleep(0.3)
            AuthToken.objects.filter(digest=tokens.digest_of(seats[1].token or "")).delete()
            assert seats[0].act(live, DISCARD).status == 200
            answer, _ = waiting.result(timeout=HELD_UP_S)

        assert (answer.status, answer.json["code"]) == (401, "bad_token")

    def test_ends_empty_after_its_time(self, live: str, seats: tuple[Player, Player]) -> None:
        answer, took_s = poll(seats[0], live, after=5, wait=1)

        assert (answer.status, answer.json["events"]) == (200, [])
        assert 1 <= took_s < HELD_UP_S

    def test_does_not_wait_for_what_is_there(self, live: str, seats: tuple[Player, Player]) -> None:
        _, took_s = poll(seats[0], live, after=0, wait=25)

        assert took_s < HELD_UP_S

    def test_does_not_wait_when_the_match_is_over(
        self, live: str, seats: tuple[Player, Player]
    ) -> None:
        assert seats[0].post(f"matches/{live}/resign").status == 200

        answer, took_s = poll(seats[0], live, after=6, wait=25)

        assert answer.json["events"] == []
        assert took_s < HELD_UP_S

    def test_does_not_wait_where_too_many_do(
        self, live: str, seats: tuple[Player, Player], settings: Any
    ) -> None:
        settings.XQMJ_LONGPOLL_WAITERS = 0

        answer, took_s = poll(seats[0], live, after=5, wait=25)

        assert (answer.status, answer.json["events"]) == (200, [])
        assert took_s < HELD_UP_S


class TestList:
    def test_pages_through_my_matches_newest_first(self) -> None:
        ada = api.registered(InProcess())
        made = [api.created(ada) for _ in range(5)]

        first = ada.get("matches?limit=2").json
        second = ada.get(f"matches?limit=2&cursor={first['next']}").json
        third = ada.get(f"matches?limit=2&cursor={second['next']}").json

        listed = [one["match_id"] for page in (first, second, third) for one in page["matches"]]
        assert listed == made[::-1]
        assert third["next"] is None

    def test_holds_what_i_sit_in_only(self, live: str, seats: tuple[Player, Player]) -> None:
        stranger = api.registered(InProcess())

        assert [one["match_id"] for one in seats[1].get("matches").json["matches"]] == [live]
        assert stranger.get("matches").json == {"matches": [], "next": None}

    def test_holds_a_match_that_keeps_a_seat_for_me(self, seats: tuple[Player, Player]) -> None:
        stranger = api.registered(InProcess())
        kept = api.created(seats[0], opponent=seats[1].username)

        (before,) = seats[1].get("matches?status=live").json["matches"]
        assert seats[1].post(f"matches/{kept}/join").status == 200
        (after,) = seats[1].get("matches").json["matches"]

        assert (before["match_id"], before["you"], before["players"][1]) == (kept, None, None)
        assert (after["match_id"], after["you"]) == (kept, 1)
        assert stranger.get("matches").json["matches"] == []

    @pytest.mark.parametrize("who", [0, 1])
    def test_forgets_an_invitation_that_is_declined_or_taken_back(
        self, seats: tuple[Player, Player], who: int
    ) -> None:
        kept = api.created(seats[0], opponent=seats[1].username)

        assert seats[who].post(f"matches/{kept}/leave").status == 200

        assert seats[1].get("matches").json["matches"] == []
        (mine,) = seats[0].get("matches").json["matches"]
        assert (mine["match_id"], mine["status"]) == (kept, "aborted")

    def test_pages_through_seats_and_invitations_alike(self, seats: tuple[Player, Player]) -> None:
        made = [
            api.created(seats[n % 2], opponent=seats[1].username if n % 2 == 0 else None)
            for n in range(5)
        ]

        first = seats[1].get("matches?limit=3").json
        second = seats[1].get(f"matches?limit=3&cursor={first['next']}").json

        listed = [one["match_id"] for page in (first, second) for one in page["matches"]]
        assert listed == made[::-1]

    def test_is_the_same_before_and_after_a_pass(
        self, live: str, seats: tuple[Player, Player]
    ) -> None:
        assert seats[0].act(live, DISCARD).status == 200
        before = seats[0].get("matches").raw
        assert seats[1].act(live, {"type": "pass"}).status == 200

        assert seats[0].get("matches").raw == before

    def test_is_filtered_by_status(self, live: str, seats: tuple[Player, Player]) -> None:
        aborted = api.paired(*seats)
        assert seats[0].post(f"matches/{aborted}/leave").status == 200

        found = {
            status: [
                one["match_id"] for one in seats[0].get(f"matches?status={status}").json["matches"]
            ]
            for status in ("live", "finished", "aborted")
        }

        assert found == {"live": [live], "finished": [], "aborted": [aborted]}


class TestPlayer:
    def test_is_found_by_name_in_any_case(self) -> None:
        ada = api.registered(InProcess())

        answer = Api(InProcess()).get(f"players/{ada.username.upper()}")

        assert answer.json == {
            "player": {"id": ada.id, "username": ada.username, "kind": "registered"}
        }

    def test_is_me(self) -> None:
        guest = api.guest(InProcess())

        assert guest.get("me").json == {
            "player": {"id": guest.id, "username": None, "kind": "guest"}
        }

    def test_of_a_guest_has_no_name_to_be_found_by(self) -> None:
        guest = api.guest(InProcess())

        assert Api(InProcess()).get(f"players/{guest.id}").code == "unknown_player"


class TestHeaders:
    @pytest.mark.parametrize(
        "path", ["me", "matches", "rulesets", "nothing", "matches/{live}", "matches/{live}/events"]
    )
    def test_keep_answers_out_of_caches_and_frames(
        self, live: str, seats: tuple[Player, Player], path: str
    ) -> None:
        answer = seats[0].get(path.replace("{live}", live))

        assert answer.headers["cache-control"] == "private, no-store"
        assert answer.headers["vary"] == "Authorization"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"] == (
            "default-src 'none'; frame-ancestors 'none'"
        )
        assert answer.headers["content-length"] == str(len(answer.raw))
        assert "server-timing" not in answer.headers
        assert "set-cookie" not in answer.headers

    def test_of_head_are_those_of_get(self, live: str, seats: tuple[Player, Player]) -> None:
        def stable(answer: Answer) -> dict[str, str]:
            own = ("x-request-id", "x-server-time-ms")
            return {k: v for k, v in answer.headers.items() if k not in own}

        got = seats[0].get(f"matches/{live}")
        head = seats[0].request("HEAD", f"matches/{live}")

        assert (head.status, head.raw) == (200, b"")
        assert stable(head) == stable(got)

    def test_say_what_to_log_in_with(self) -> None:
        assert Api(InProcess()).get("me").headers["www-authenticate"] == "Bearer"

    def test_say_which_methods_there_are(self) -> None:
        answer = Api(InProcess()).request("DELETE", "matches")

        assert answer.headers["allow"] == "GET, HEAD, POST"

    def test_do_not_redirect_but_refuse_without_https(self, settings: Any) -> None:
        settings.SECURE_SSL_REDIRECT = True

        answer = Api(InProcess()).get("rulesets")

        assert (answer.status, answer.code) == (403, "https_required")

    def test_ask_for_https_from_then_on(self, settings: Any) -> None:
        settings.SECURE_HSTS_SECONDS, settings.SECURE_HSTS_INCLUDE_SUBDOMAINS = 31_536_000, True
        settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

        answer = Api(InProcess()).get("rulesets", X_Forwarded_Proto="https")

        assert answer.headers["strict-transport-security"] == "max-age=31536000; includeSubDomains"
