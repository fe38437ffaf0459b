"""An evening of play over real sockets: friends by a link, a cut, a rematch, an account, Misty."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from tests.faults.conftest import Start
from tests.faults.service import Service
from tests.support.api import PASSWORD, Answer, Api, OverHttp, Player, fresh_name, guest
from tests.support.servers import OwnServers
from tests.support.sockets import Socket
from tests.support.waiting import until
from xqmj_site.devstack import processes

pytestmark = pytest.mark.slow

ORDINARY = {"win_not_possible", "no_claim_to_answer", "claim_window_over", "not_your_turn"}
"""What a player who only tries hears now and then."""
MISTY_S = 600.0
CUT_AT = 16


class Anew:
    """HTTP by a connection for each request: between two of them minutes pass."""

    def __init__(self, port: int) -> None:
        self._address = f"http://127.0.0.1:{port}"

    def send(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes | None
    ) -> Answer:
        """Send one."""
        with contextlib.closing(OverHttp(self._address)) as transport:
            return transport.send(method, path, headers, body)


class Chair:
    """A player of one match who knows nothing but the lines of a socket, and commands by it."""

    def __init__(self, port: int, match_id: str, player: Player) -> None:
        self._port = port
        self._path = f"/live/v1/matches/{match_id}/events"
        self._player = player
        self._sent = 0
        self.seat: int | None = None
        self.lines: list[dict[str, Any]] = []
        self.codes: list[str] = []
        self._socket = Socket(port, self._path + "?after=0", token=player.token)

    def cut(self) -> None:
        """Lose the network without a goodbye, and come back for what came since."""
        self._socket.cut()
        after = self.lines[-1]["seq"]
        self._socket = Socket(self._port, f"{self._path}?after={after}", token=self._player.token)

    def command(self, verb: str, body: dict[str, Any] | None = None) -> str | None:
        """Send a command; the code of its refusal, None where it was done."""
        self._sent += 1
        answer = self._socket.command(f"{verb}-{self._sent}", verb, body)
        code = answer["problem"]["code"] if "problem" in answer else None
        if code is not None:
            self.codes.append(code)
        return code

    def play(self, *, until_seq: int = 10**6) -> None:
        """React to every line, to the match's last one or up to a number."""
        try:
            while not self.lines or self.lines[-1]["seq"] < until_seq:
                line = self._next()
                self.lines.append(line)
                if line["kind"] == "match.ended":
                    return
                self._react(line["kind"], line["data"])
        except ConnectionClosed:
            # The match was over while a command was on its way.
            self.lines += self._socket.lines

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def _next(self) -> dict[str, Any]:
        return self._socket.lines.pop(0) if self._socket.lines else self._socket.line(within_s=60)

    def _react(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "match.hand_dealt":
            own = [seat for seat, side in enumerate(data["deal"]["sides"]) if "concealed" in side]
            self.seat = own[0]
            if data["dealer"] == self.seat:
                self._discard(data["deal"]["sides"][self.seat]["concealed"][0], drawn=False)
        elif kind == "xqmj.tile_drawn" and data["seat"] == self.seat:
            if self._act({"type": "win"}) is not None:
                self._discard(data["tile"], drawn=True)
        elif kind == "xqmj.tile_discarded" and data["seat"] != self.seat:
            if self._act({"type": "win"}) is not None:
                self._act({"type": "pass"})
        elif kind in ("xqmj.hand_won", "xqmj.hand_voided"):
            self.command("ready")

    def _discard(self, tile: str, *, drawn: bool) -> None:
        self._act({"type": "discard", "tile": tile, "drawn": drawn})

    def _act(self, action: dict[str, Any]) -> str | None:
        return self.command("act", {"action": action})


@pytest.fixture
def evening(service: Start) -> tuple[Service, int]:
    """Web, live and worker, and the port of live."""
    live_port = processes.free_port()
    running = service(LIVE_PORT=str(live_port))
    for role in ("web", "live", "worker"):
        running.keep(role)
    running.begin()
    return running, live_port


def test_friends_play_by_a_link_and_one_stays(evening: tuple[Service, int]) -> None:
    running, port = evening
    transport = Anew(running.port)
    ana, ben = guest(transport), guest(transport)
    made = ana.post("matches", {"ruleset": "xqmj-32-2p", "control": "10+5"})
    link = made.json["match"]["match_id"]
    assert ben.post(f"matches/{link}/join").status == 200
    chairs = [Chair(port, link, player) for player in (ana, ben)]
    for chair in chairs:
        assert chair.command("ready") is None

    other = threading.Thread(target=chairs[1].play)
    other.start()
    chairs[0].play(until_seq=CUT_AT)
    chairs[0].cut()
    chairs[0].play(until_seq=CUT_AT + 8)
    assert ben.post(f"matches/{link}/resign").status == 200
    chairs[0].play()
    other.join(60)
    assert not other.is_alive()

    assert chairs[0].lines == ana.get(f"matches/{link}/events").json["events"]
    assert [line["seq"] for line in chairs[0].lines] == list(range(1, len(chairs[0].lines) + 1))
    assert set(chairs[0].codes + chairs[1].codes) <= ORDINARY
    _play_again(ana, ben, link)
    _stay(transport, ana, link)
    assert running.mistakes() == []


def _play_again(ana: Player, ben: Player, link: str) -> None:
    assert ana.post(f"matches/{link}/rematch").json["match_id"] is None
    again = ben.post(f"matches/{link}/rematch").json["match_id"]
    view = ana.view(again)
    assert (view["rematch_of"], view["phase"]) == (link, "readying")
    for player in (ana, ben):
        assert player.post(f"matches/{again}/ready").status == 200
    assert ana.view(again)["dealer"] == 1 - _first_dealer(ana, link)
    assert ben.post(f"matches/{again}/resign").status == 200


def _first_dealer(player: Player, match_id: str) -> int:
    events = player.get(f"matches/{match_id}/events").json["events"]
    dealer: int = next(one for one in events if one["kind"] == "match.hand_dealt")["data"]["dealer"]
    return dealer


def _stay(transport: Anew, ana: Player, link: str) -> None:
    name = fresh_name("ana")
    assert ana.post("auth/upgrade", {"username": name, "password": PASSWORD}).status == 200
    login = Api(transport).post("auth/login", {"username": name, "password": PASSWORD})
    later = Player(transport, login.json["token"], id=login.json["player"]["id"])
    listed = [one["match_id"] for one in later.get("matches").json["matches"]]
    assert later.id == ana.id
    assert len(listed) == 2
    assert listed[-1] == link


@pytest.mark.timeout(MISTY_S + 300)
def test_misty_is_played_over_a_socket_while_valkey_dies(
    evening: tuple[Service, int], lone_servers: OwnServers
) -> None:
    running, port = evening
    ana = guest(Anew(running.port))
    made = ana.post("matches", {"ruleset": "xqmj-32-2p", "control": "5+5", "computer": 3})
    match_id = made.json["match"]["match_id"]
    chair = Chair(port, match_id, ana)
    assert chair.command("ready") is None
    playing = threading.Thread(target=chair.play)
    playing.start()

    assert until(lambda: len(chair.lines) > 12, within_s=120)
    lone_servers.valkey.kill()
    seen = len(chair.lines)
    assert until(lambda: len(chair.lines) > seen + 6, within_s=120)
    lone_servers.valkey.start()
    playing.join(MISTY_S)

    assert not playing.is_alive()
    ended = chair.lines[-1]["data"]
    assert (chair.lines[-1]["kind"], ended["reason"]) == ("match.ended", "score")
    assert set(chair.codes) <= ORDINARY
    assert chair.lines == ana.get(f"matches/{match_id}/events").json["events"]
    assert running.mistakes() == []
