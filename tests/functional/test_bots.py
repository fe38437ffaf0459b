"""Bot accounts, and the bot of the examples playing a whole match."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connections

from matches.models import Player as PlayerRow
from matches.services import tokens
from tests.support import ahead, api
from tests.support.ahead import AheadStore
from tests.support.api import InProcess, Player
from tests.support.servers import ROOT

pytestmark = pytest.mark.django_db

TERMS = {"ruleset": "xqmj-32-2p", "control": "3+2"}


def bot() -> Player:
    """A new bot account, with a token to play by."""
    manager = api.registered(InProcess())
    assert manager.post("me/bot").status == 200
    made = api.granted(manager, scope="bot")
    return Player(manager.transport, made["token"], id=manager.id, username=manager.username)


class TestBotAccount:
    def test_is_made_of_a_fresh_account_and_shown_everywhere(self) -> None:
        rob, ada = bot(), api.registered(InProcess())
        shown = {"id": rob.id, "username": rob.username, "kind": "bot"}

        match_id = api.begun(rob, ada)

        assert rob.get("me").json["player"] == shown
        assert ada.get(f"players/{rob.username}").json["player"] == shown
        assert ada.get(f"matches/{match_id}").json["players"][0] == shown
        assert ada.get("matches").json["matches"][0]["players"][0] == shown

    @pytest.mark.parametrize("trace", ["match", "seek", "challenge", "challenged", "wait"])
    def test_is_not_made_of_whoever_has_played_or_is_about_to(self, trace: str) -> None:
        ada, bob = (api.registered(InProcess()) for _ in range(2))
        match trace:
            case "match":
                api.created(ada)
            case "seek":
                api.sought(ada)
            case "challenge":
                api.challenged(ada, bob)
            case "challenged":
                api.challenged(bob, ada)
            case _:
                assert ada.post("pairing", TERMS).status == 201

        assert ada.post("me/bot").code == "not_fresh"
        assert ada.get("me").json["player"]["kind"] == "registered"

    def test_is_one_for_ever(self) -> None:
        manager = api.registered(InProcess())
        assert manager.post("me/bot").status == 200

        assert manager.post("me/bot").code == "not_fresh"
        assert manager.post("auth/upgrade", {"username": "abc", "password": "x"}).code

    def test_plays_by_a_token_of_its_scope_alone(self) -> None:
        manager = api.registered(InProcess())
        assert manager.post("me/bot").status == 200
        made = api.granted(manager, scope="bot")
        playing = Player(InProcess(), made["token"], id=manager.id)

        assert manager.post("matches", TERMS).code == "scope_forbids"
        assert playing.post("matches", TERMS).status == 201
        assert playing.post("tokens", {"name": "more"}).code == "scope_forbids"
        assert playing.delete("tokens").code == "scope_forbids"

    def test_plays_nothing_rated(self) -> None:
        rob, ada = bot(), api.registered(InProcess())
        rated = {**TERMS, "rated": True}

        assert rob.post("matches", rated).code == "rated_needs_accounts"
        assert rob.post("seeks", rated).code == "rated_needs_accounts"
        challenge = ada.post("challenges", {**rated, "opponent": rob.username})
        assert challenge.code == "rated_needs_accounts"
        invitation = ada.post("matches", {**rated, "opponent": rob.username})
        assert invitation.code == "rated_needs_accounts"
        match_id = api.created(ada, rated=True)
        assert rob.post(f"matches/{match_id}/join").code == "rated_needs_accounts"

    def test_plays_nothing_rated_where_it_is_still_remembered_as_a_person(self) -> None:
        manager, ada = (api.registered(InProcess()) for _ in range(2))
        match_id = api.created(ada, rated=True)
        assert manager.get("me").status == 200
        assert manager.get("matches").status == 200
        # Another process has made a bot of it since.
        PlayerRow.objects.filter(public_id=manager.id).update(kind="bot")

        assert manager.post(f"matches/{match_id}/join").code == "rated_needs_accounts"
        answer = manager.post("matches", {**TERMS, "rated": True})
        assert answer.code == "rated_needs_accounts"

    def test_is_not_paired(self) -> None:
        assert bot().post("pairing", TERMS).code == "bot_not_paired"

    def test_plays_so_many_at_a_time(self, settings: Any) -> None:
        settings.XQMJ_BOT_MATCHES = 2
        rob, ada = bot(), api.registered(InProcess())
        first = api.begun(rob, ada)
        open_match, sought = api.created(ada), api.sought(rob)
        challenge = api.challenged(rob, ada)
        api.created(rob)

        assert rob.post("matches", TERMS).code == "bot_busy"
        assert rob.post(f"matches/{open_match}/join").code == "bot_busy"
        assert ada.post(f"seeks/{sought}/accept").code == "bot_busy"
        assert ada.post(f"challenges/{challenge}/accept").code == "bot_busy"
        assert rob.post(f"matches/{first}/resign").status == 200
        assert rob.post(f"matches/{open_match}/join").status == 200

    def test_is_answered_as_before_however_busy_it_is(self, settings: Any) -> None:
        settings.XQMJ_BOT_MATCHES = 1
        rob, ada = bot(), api.registered(InProcess())
        made = rob.post("matches", TERMS, key="make")
        match_id = made.json["match"]["match_id"]
        assert rob.post(f"matches/{match_id}/leave").status == 200
        other = api.created(ada)
        joined = rob.post(f"matches/{other}/join", key="join")
        assert joined.status == 200

        again = rob.post("matches", TERMS, key="make")
        assert rob.post(f"matches/{other}/resign").status in (200, 409)

        assert again.json["match"]["match_id"] == match_id
        repeated = rob.post(f"matches/{other}/join", key="join")
        assert repeated.json["events"] == joined.json["events"]


@pytest.mark.django_db(transaction=True)
def test_many_at_once_begin_no_more_than_a_bot_may_play(settings: Any) -> None:
    settings.XQMJ_BOT_MATCHES = 2
    rob = bot()
    tokens.forget_all()
    waiting = [api.created(api.registered(InProcess())) for _ in range(6)]

    def attempt(match_id: str) -> str | None:
        try:
            return rob.post(f"matches/{match_id}/join").code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as threads:
        codes = sorted(str(code) for code in threads.map(attempt, waiting))

    assert codes == ["None", "None", *["bot_busy"] * 4]


@contextmanager
def running(clock: AheadStore) -> Iterator[None]:
    """Let the clock run: half a second in every fiftieth of one."""
    stop = threading.Event()

    def run() -> None:
        while not stop.wait(0.02):
            clock.ahead_ms += 500

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.mark.django_db(transaction=True)
class TestExample:
    def play(self, address: str, player: Player, *more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [
                *(sys.executable, str(ROOT / "examples" / "bot.py"), address),
                *("--wait", "0.02", "--matches", "1", *more),
            ],
            env={**os.environ, "XQMJ_TOKEN": str(player.token)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def test_plays_a_whole_match(self, address: str) -> None:
        rob, ann = bot(), bot()
        with ahead.clock() as clock, running(clock):
            one = self.play(address, rob)
            other = self.play(address, ann, "--challenge", str(rob.username), "--control", "10+5")
            said = [process.communicate(timeout=120)[0] for process in (one, other)]

        assert (one.returncode, other.returncode) == (0, 0), said
        (match,) = rob.get("matches").json["matches"]
        assert (match["status"], match["reason"], match["rated"]) == ("finished", "score", False)
        assert [player["kind"] for player in match["players"]] == ["bot", "bot"]

    def test_is_short(self) -> None:
        assert len((ROOT / "examples" / "bot.py").read_text().splitlines()) < 150
