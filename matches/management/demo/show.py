"""The demo from the first request to the proof: two clients, one match, one verdict."""

from __future__ import annotations

import secrets
import threading
import time
from typing import Any, TextIO

import msgspec

from matches.audit import protocol
from matches.audit.verify import verify
from matches.management.client import Client, Refused
from matches.management.demo import xqmj
from matches.management.demo.ink import Ink
from matches.management.demo.player import Player
from matches.management.demo.screen import Screen

FRAME_S = 0.1
"""The screen is brought up to date this often."""
RATING_WAIT_S = 20.0
"""A finished match is rated by a task; this long the demo waits to see it."""

NAMES = ("ana", "ben")


class DemoFailed(Exception):
    """The match was not played to its end, not proven, or not rated; the message says which."""


class Demo:
    """One match between two fresh accounts on the server at `url`."""

    def __init__(self, stream: TextIO, *, url: str, ink: Ink, patience_s: float) -> None:
        self._stream = stream
        self._screen = Screen(stream, ink=ink, names=NAMES)
        self._players = tuple(
            Player(
                Client(url, patience_s=patience_s, on_trouble=self._trouble),
                f"{name}-{secrets.token_hex(4)}",
            )
            for name in NAMES
        )

    def run(self, *, ruleset: str, control: str) -> None:
        """Play, prove, and show the ratings.

        Raises `DemoFailed`, and `Unreachable` or `Refused` as the client does.
        """
        self._meet(ruleset, control)
        self._play()
        self._tell_result()
        self._prove()
        self._tell_ratings(ruleset, control)

    def _meet(self, ruleset: str, control: str) -> None:
        first, second = self._players
        first.client.get("/api/v1/rulesets")
        for player in self._players:
            player.register()
        body = {"ruleset": ruleset, "control": control, "rated": True, "opponent": second.name}
        match_id = first.create(body)
        second.join(match_id)
        self._say(f"{first.name} and {second.name} play {ruleset} {control}, rated: {match_id}")

    def _play(self) -> None:
        seats = [_Seat(player) for player in self._players]
        for seat in seats:
            seat.start()
        while any(seat.is_alive() for seat in seats):
            self._screen.show(self._players[0])
            for seat in seats:
                if seat.error is not None:
                    raise seat.error
            time.sleep(FRAME_S)
        self._screen.show(self._players[0])
        self._screen.close()

    def _tell_result(self) -> None:
        match = self._players[0].sight["match"]
        ended = match["ended"]
        winner = "a draw" if ended["winner"] is None else f"{NAMES[ended['winner']]} wins"
        self._say("", *xqmj.score_table(match, NAMES), f"{winner} by {ended['reason']}", "")
        if ended["reason"] != "score":
            raise DemoFailed(f"the match ended by {ended['reason']}, not by its score")

    def _prove(self) -> None:
        player = self._players[0]
        raw = player.client.get_bytes(f"/api/v1/matches/{player.match_id}/export")
        report = verify(msgspec.json.decode(raw))
        self._say(f"export of {len(raw)} bytes, verified here:", *protocol.lines(report), "")
        if not report.ok:
            raise DemoFailed(f"the export is not proven: {report.message}")

    def _tell_ratings(self, ruleset: str, control: str) -> None:
        pools = self._players[0].client.get("/api/v1/pools")["pools"]
        pool = next(
            one["pool"] for one in pools if one["ruleset"] == ruleset and control in one["controls"]
        )
        for player in self._players:
            change = self._change(player, pool)
            before, after = change["before"], change["after"]
            self._say(
                f"{player.name:<14} {pool}: {float(before['rating']):.0f} ± "
                f"{float(before['rd']):.0f}  to  {float(after['rating']):.0f} ± "
                f"{float(after['rd']):.0f}"
            )

    def _change(self, player: Player, pool: str) -> dict[str, Any]:
        """What the match did to the player's rating, as soon as it is known."""
        path = f"/api/v1/players/{player.name}/ratings/{pool}/history"
        give_up_at = time.monotonic() + RATING_WAIT_S
        while time.monotonic() < give_up_at:
            for change in player.client.get(path, limit=1)["changes"]:
                if change["match_id"] == player.match_id:
                    found: dict[str, Any] = change
                    return found
            time.sleep(0.3)
        raise DemoFailed(f"the match was not rated within {RATING_WAIT_S:.0f} s")

    def _trouble(self, text: str) -> None:
        self._screen.trouble = f"trying again: {text}" if text else ""

    def _say(self, *lines: str) -> None:
        self._stream.write("".join(f"{line}\n" for line in lines))
        self._stream.flush()


class _Seat(threading.Thread):
    """A player at work; `error` is what ended it before the match did."""

    def __init__(self, player: Player) -> None:
        super().__init__(name=player.name, daemon=True)
        self._player = player
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self._player.play()
        except Exception as error:  # the main thread raises it
            self.error = error


__all__ = ["Demo", "DemoFailed", "Refused"]
