"""The WebSocket of a match, over real sockets: its lines, its commands, its ends."""

from __future__ import annotations

import contextlib
import json
import secrets
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from knox.models import AuthToken
from websockets.exceptions import ConnectionClosed

from matches.services import tokens
from tests.functional.conftest import PAGE
from tests.support.api import InProcess, Player, begun, granted, guest, registered
from tests.support.serving import Serving
from tests.support.sockets import Socket

pytestmark = pytest.mark.django_db

NOBODYS = "0190a5a000007000800000000000000f"

Open = Callable[..., Socket]


@pytest.fixture
def opened(live: Serving) -> Iterator[Open]:
    """Opens sockets to matches, which are closed at the end."""
    sockets: list[Socket] = []

    def open_(match_id: str, query: str = "", **options: Any) -> Socket:
        socket = Socket(live.port, f"/live/v1/matches/{match_id}/events{query}", **options)
        sockets.append(socket)
        return socket

    yield open_
    for socket in sockets:
        socket.close()


@pytest.fixture
def table() -> tuple[str, Player, Player]:
    """A match that has begun, and its players by seat."""
    one, two = registered(InProcess()), registered(InProcess())
    match_id = begun(one, two)
    return match_id, one, two


def events(player: Player, match_id: str, after: int = 0) -> list[dict[str, Any]]:
    """The player's lines over REST."""
    found: list[dict[str, Any]] = player.get(f"matches/{match_id}/events?after={after}").json[
        "events"
    ]
    return found


def to_move(match_id: str, *players: Player) -> tuple[Player, dict[str, Any]]:
    """Who may discard as soon as the pause is over, and a discard; who could claim passes first."""
    end_s = time.monotonic() + 10
    while time.monotonic() < end_s:
        for player in players:
            view = player.view(match_id)
            for action in view["legal"]:
                if action["type"] == "discard":
                    return player, action
            if {"type": "pass"} in view["legal"]:
                player.act(match_id, {"type": "pass"})
        time.sleep(0.1)
    raise AssertionError("nobody may discard")


class TestLines:
    def test_begin_with_the_view_that_rest_shows(
        self, opened: Open, table: tuple[str, Player, Player]
    ) -> None:
        match_id, one, two = table
        expected = one.get(f"matches/{match_id}").json

        socket = opened(match_id, token=one.token)
        first = socket.line()

        assert list(first) == ["snapshot"]
        for name in ("match", "players", "seq"):
            assert first["snapshot"][name] == expected[name]
        two.post(f"matches/{match_id}/resign")
        assert socket.line() == events(one, match_id)[-1]

    @pytest.mark.parametrize("after", [0, 3, 5])
    def test_resume_after_a_line(
        self, opened: Open, table: tuple[str, Player, Player], after: int
    ) -> None:
        match_id, one, two = table
        socket = opened(match_id, f"?after={after}", token=one.token)
        assert two.post(f"matches/{match_id}/resign").status == 200

        assert socket.rest() == events(one, match_id, after)
        assert socket.wire.close_code == 1000

    def test_have_no_gap_and_no_repeat_over_cuts(
        self, opened: Open, table: tuple[str, Player, Player]
    ) -> None:
        match_id, one, two = table
        heard: list[dict[str, Any]] = []

        for _ in range(4):
            after = heard[-1]["seq"] if heard else 0
            socket = opened(match_id, f"?after={after}", token=one.token)
            mover, discard = to_move(match_id, one, two)
            assert mover.post(f"matches/{match_id}/act", {"action": discard}).status == 200
            discarded = len(events(one, match_id))
            while (heard[-1]["seq"] if heard else 0) < discarded - 1:
                heard.append(socket.line())
            socket.cut()
            time.sleep(1.0)  # in the middle of the pause after a discard
        two.post(f"matches/{match_id}/resign")
        socket = opened(match_id, f"?after={heard[-1]['seq']}", token=one.token)
        heard += socket.rest()

        assert [line["seq"] for line in heard] == list(range(1, len(heard) + 1))
        assert heard == events(one, match_id)

    def test_show_a_spectator_no_tiles(
        self, opened: Open, table: tuple[str, Player, Player]
    ) -> None:
        match_id, one, two = table
        watcher = guest(InProcess())

        first = opened(match_id, token=watcher.token).line()
        lines = opened(match_id, "?after=0", token=watcher.token).take(5)

        assert "concealed" not in json.dumps([*lines, first["snapshot"]["match"]["hand"]])
        assert lines == events(watcher, match_id)
        for player in (one, two):
            assert "concealed" in json.dumps(events(player, match_id))

    def test_are_sent_to_browsers_that_offer_their_token_as_a_subprotocol(
        self, opened: Open, table: tuple[str, Player, Player], live: Serving
    ) -> None:
        match_id, one, _ = table

        for origin in (PAGE, f"http://127.0.0.1:{live.port}"):
            socket = opened(
                match_id, origin=origin, protocols=["xqmj.v1", f"xqmj.token.{one.token}"]
            )
            assert socket.wire.subprotocol == "xqmj.v1"
            assert socket.line()["snapshot"]["match"]["you"] == 0


class TestCommand:
    def test_is_answered_as_over_rest_and_again_by_either(
        self, opened: Open, table: tuple[str, Player, Player]
    ) -> None:
        match_id, one, two = table
        mover, discard = to_move(match_id, one, two)
        socket = opened(match_id, token=mover.token)
        key, body = secrets.token_hex(8), {"action": discard}

        done = socket.command(key, "act", body)
        rest = mover.post(f"matches/{match_id}/act", body, key=key)
        again = socket.command(key, "act", body)

        assert rest.status == 200
        told = [done["answer"], rest.json, again["answer"]]
        assert done["answer"]["events"][0]["kind"] == "xqmj.tile_discarded"
        assert [(one["seq"], one["events"]) for one in told] == [
            (done["answer"]["seq"], done["answer"]["events"])
        ] * 3
        assert set(done["answer"]) == set(rest.json)

    def test_of_rest_is_answered_again_by_a_socket(
        self, opened: Open, table: tuple[str, Player, Player]
    ) -> None:
        match_id, one, _ = table
        key = secrets.token_hex(8)
        rest = one.post(f"matches/{match_id}/resign", key=key)
        other = registered(InProcess())
        second = begun(one, other)

        socket = opened(second, token=one.token)
        reused = socket.command(key, "resign")
        over_rest = one.post(f"matches/{second}/resign", key=key)

        # One key is one request of a player in one match; another match has another log.
        assert rest.status == over_rest.status == 200
        assert reused["answer"]["events"] == over_rest.json["events"]

    def test_that_ends_the_match_is_answered_before_the_goodbye(
        self, opened: Open, table: tuple[str, Player, Player]
    ) -> None:
        match_id, one, _ = table
        socket = opened(match_id, token=one.token)
        socket.line()

        answer = socket.command("the-end", "resign")
        rest = socket.rest()

        assert answer["answer"]["events"][-1]["kind"] == "match.ended"
        assert [line["kind"] for line in [*socket.lines, *rest]] == ["match.ended"]
        assert socket.wire.close_code == 1000

    def test_works_for_every_verb(self, opened: Open) -> None:
        one, two = registered(InProcess()), registered(InProcess())
        made = one.post("matches", {"ruleset": "xqmj-32-2p", "control": "3+2"})
        match_id = made.json["match"]["match_id"]

        second = opened(match_id, token=two.token)
        first = opened(match_id, token=one.token)

        assert second.command("k1", "join")["answer"]["events"][0]["kind"] == "match.seat_taken"
        assert "answer" in second.command("k2", "ready", {"nonce": "00112233445566778899"})
        dealt = first.command("k3", "ready")["answer"]["events"]
        assert dealt[-1]["kind"] == "match.hand_dealt"
        assert first.command("k4", "claim-absence")["problem"]["code"] in {
            "not_absent",
            "not_your_turn",
        }
        assert first.command("k5", "leave")["answer"]["events"][-1]["kind"] == "match.ended"

    @pytest.mark.parametrize(
        ("command", "body"),
        [
            ("act", {"action": {"type": "win"}}),
            ("act", {"action": {"type": "fly"}}),
            ("act", {"action": {"type": "pass"}, "expected_seq": 1}),
            ("act", {"action": {"type": "pass"}, "more": 1}),
            ("act", {}),
            ("ready", {}),
            ("ready", {"nonce": "XYZ"}),
            ("resign", {"why": "tired"}),
            ("join", {}),
        ],
    )
    def test_is_refused_with_the_problem_of_rest(
        self, opened: Open, table: tuple[str, Player, Player], command: str, body: Any
    ) -> None:
        match_id, one, _ = table
        socket = opened(match_id, token=one.token)

        found = socket.command("refused", command, body)
        rest = one.post(f"matches/{match_id}/{command}", body, key="refused")

        assert found == {"id": "refused", "problem": rest.json}
        assert 400 <= rest.status < 500

    def test_with_another_body_under_its_key_is_refused(
        self, opened: Open, table: tuple[str, Player, Player]
    ) -> None:
        match_id, one, two = table
        mover, discard = to_move(match_id, one, two)
        socket = opened(match_id, token=mover.token)
        key = secrets.token_hex(8)
        mover.post(f"matches/{match_id}/act", {"action": discard}, key=key)

        found = socket.command(key, "resign")

        assert found["problem"] == mover.post(f"matches/{match_id}/resign", key=key).json
        assert found["problem"]["code"] == "key_reused"

    @pytest.mark.parametrize(
        ("frame", "name", "code"),
        [
            ("{", None, "malformed_json"),
            ("[]", None, "invalid_body"),
            ('{"id": "k", "id": "l", "command": "resign"}', None, "duplicate_key"),
            ('{"command": "resign"}', None, "invalid_body"),
            ('{"id": 7, "command": "resign"}', None, "invalid_body"),
            ('{"id": "k", "command": "fly"}', "k", "invalid_body"),
            ('{"id": "k", "command": "resign", "token": "t"}', "k", "unknown_field"),
            ('{"id": "k", "command": "resign", "body": null}', "k", "invalid_body"),
            ('{"id": "", "command": "resign"}', "", "idempotency_key_missing"),
            ('{"id": "k k", "command": "resign"}', "k k", "idempotency_key_invalid"),
            ('{"id": "k", "command": "resign", "body": ' + "[" * 20, "k", "json_too_deep"),
            ('{"id": "\\u0000", "command": "resign"}', None, "bad_text"),
            ('{"id": "k", "command": "resign", "body": {"n": 1e999}}', None, "bad_number"),
        ],
    )
    def test_that_is_none_is_refused_and_changes_nothing(
        self,
        opened: Open,
        table: tuple[str, Player, Player],
        frame: str,
        name: str | None,
        code: str,
    ) -> None:
        match_id, one, _ = table
        socket = opened(match_id, token=one.token)
        before = one.get(f"matches/{match_id}").json["seq"]
        name = None if code == "json_too_deep" else name

        found = socket.answer(frame, name)

        assert found["problem"]["code"] == code
        assert one.get(f"matches/{match_id}").json["seq"] == before

    def test_by_a_token_that_may_only_read_is_refused(
        self, opened: Open, table: tuple[str, Player, Player]
    ) -> None:
        match_id, one, _ = table
        socket = opened(match_id, token=granted(one, scope="read")["token"])
        assert socket.line()["snapshot"]["match"]["you"] == 0

        found = socket.command("k", "resign")

        assert (found["id"], found["problem"]["code"]) == ("k", "scope_forbids")
        assert one.view(match_id)["ended"] is None

    def test_of_a_spectator_is_refused(
        self, opened: Open, table: tuple[str, Player, Player]
    ) -> None:
        match_id = table[0]
        socket = opened(match_id, token=guest(InProcess()).token)

        found = socket.command("k", "act", {"action": {"type": "pass"}})

        assert found["problem"]["code"] == "not_a_seat"


class TestOpening:
    @pytest.mark.parametrize(
        ("query", "code", "problem"),
        [
            ("?after=-1", 4400, "invalid_parameter"),
            ("?after=1&after=2", 4400, "invalid_parameter"),
            ("?after=x", 4400, "invalid_parameter"),
            ("?token={token}", 4400, "unknown_parameter"),
            ("?after=6", 4409, "seq_ahead"),
        ],
    )
    def test_with_another_query_is_refused(
        self,
        opened: Open,
        table: tuple[str, Player, Player],
        query: str,
        code: int,
        problem: str,
    ) -> None:
        match_id, one, _ = table

        socket = opened(match_id, query.format(token=one.token), token=one.token)

        (line,) = socket.rest()
        assert (line["id"], line["problem"]["code"]) == (None, problem)
        assert socket.wire.close_code == code

    def test_without_a_good_token_is_refused(
        self, opened: Open, table: tuple[str, Player, Player]
    ) -> None:
        match_id, one, _ = table

        assert opened(match_id).code() == 4401
        assert opened(match_id, token="0" * 64).code() == 4401
        assert opened(match_id, f"?token={one.token}").code() == 4400
        assert opened(match_id, protocols=["xqmj.v1", "xqmj.token.no"]).code() == 4401

    @pytest.mark.parametrize(
        "origin",
        ["https://evil.example", "null", f"{PAGE}.evil.example", "http://127.0.0.1", "//", "x"],
    )
    def test_by_a_page_of_somebody_elses_is_refused(
        self, opened: Open, table: tuple[str, Player, Player], origin: str
    ) -> None:
        match_id, one, _ = table

        socket = opened(match_id, token=one.token, origin=origin)

        assert socket.code() == 4403
        assert [line["problem"]["code"] for line in socket.lines] == ["forbidden"]

    def test_of_what_may_not_be_seen_is_refused(
        self, opened: Open, table: tuple[str, Player, Player], live: Serving
    ) -> None:
        one = table[1]

        socket = opened(NOBODYS, token=one.token)
        nowhere = Socket(live.port, "/live/v1/nothing", token=one.token)

        assert socket.code() == nowhere.code() == 4404
        assert socket.lines[0]["problem"] == one.get(f"matches/{NOBODYS}").json

    def test_of_a_sixth_is_refused_until_one_is_closed(
        self, opened: Open, table: tuple[str, Player, Player]
    ) -> None:
        match_id, one, two = table
        first, *_ = [opened(match_id, token=one.token) for _ in range(5)]

        sixth = opened(match_id, token=one.token)

        assert sixth.code() == 1013
        assert sixth.lines[0]["problem"]["code"] == "too_many_requests"
        assert sixth.lines[0]["retry_after_s"] == 2
        assert "snapshot" in opened(match_id, token=two.token).line()
        first.close()
        time.sleep(0.3)
        assert "snapshot" in opened(match_id, token=one.token).line()


class TestLimits:
    def test_end_a_socket_that_sends_a_megabyte(
        self, opened: Open, table: tuple[str, Player, Player]
    ) -> None:
        match_id, one, _ = table
        socket = opened(match_id, token=one.token)

        socket.wire.send("x" * 1_048_576)

        assert socket.code() == 1009

    def test_end_a_socket_that_sends_bytes(
        self, opened: Open, table: tuple[str, Player, Player]
    ) -> None:
        match_id, one, _ = table
        socket = opened(match_id, token=one.token)

        socket.wire.send(b"{}")

        assert socket.code() == 1003

    @pytest.mark.parametrize("frame", ["", "{"])
    def test_end_a_flood_and_nothing_else(
        self, opened: Open, table: tuple[str, Player, Player], frame: str
    ) -> None:
        match_id, one, two = table
        other = opened(match_id, token=two.token)
        other.line()
        socket = opened(match_id, token=one.token)

        with contextlib.suppress(ConnectionClosed):
            for _ in range(60):
                socket.wire.send(frame)

        # What was sent after the end resets the connection, perhaps before the code is read.
        assert socket.code() in {1008, 1006}
        assert len(socket.lines) < 30
        assert other.command("k", "join")["problem"]["code"] == "already_seated"

    def test_end_a_socket_whose_token_is_revoked_elsewhere(
        self, opened: Open, table: tuple[str, Player, Player]
    ) -> None:
        match_id, one, _ = table
        socket = opened(match_id, token=one.token)
        socket.line()

        AuthToken.objects.filter(digest=tokens.digest_of(one.token or "")).delete()
        began_s = time.monotonic()

        assert socket.code() == 4401
        assert time.monotonic() - began_s < 5
        assert socket.lines[-1]["problem"]["code"] == "bad_token"
