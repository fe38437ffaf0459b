"""A person plays Misty: the table is drawn, what may be done is numbered and asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TextIO

from matches.games.names import Lang
from matches.management.chair import PASSING, Chair
from matches.management.client import Client, Refused
from matches.management.demo import xqmj
from matches.management.demo.ink import Ink
from matches.management.words import say

RULESET = "xqmj-32-2p"
RESIGN = "resign"
WIDTH = 60
_CLEAR = "\x1b[H\x1b[2J"

Ask = Callable[[str], str]
"""Shows a prompt and gives the line that was typed; raises EOFError where nothing more comes."""


class Game:
    """One match of a guest against the computer, on the server at `url`."""

    def __init__(
        self, stream: TextIO, *, url: str, ink: Ink, lang: Lang, ask: Ask, patience_s: float
    ) -> None:
        self._stream = stream
        self._ink = ink
        self._lang = lang
        self._ask = ask
        self._shown = 0
        self._notice = ""
        self._chair = Chair(Client(url, patience_s=patience_s, on_trouble=self._trouble))

    def run(self, *, level: int, control: str) -> None:
        """Play to the end; raises what the client raises.

        Whoever has nothing more to say (the end of a file, Ctrl-C) leaves the table.
        """
        chair = self._chair
        chair.client.token = chair.client.post("/api/v1/auth/guest")["token"]
        chair.create({"ruleset": RULESET, "control": control, "computer": level})
        try:
            chair.post("ready")
            while self._look()["ended"] is None:
                self._try_step()
        except (EOFError, KeyboardInterrupt):
            self._leave()
        self._tell_end()

    def _look(self) -> dict[str, Any]:
        """The match as it stands now, drawn anew where it has changed."""
        self._chair.look()
        if self._chair.sight["seq"] != self._shown:
            self._shown = self._chair.sight["seq"]
            self._draw()
        if self._notice:
            self._say(self._notice)
            self._notice = ""
        match: dict[str, Any] = self._chair.sight["match"]
        return match

    def _try_step(self) -> None:
        try:
            self._step(self._chair.sight["match"])
        except Refused as refused:
            if refused.status not in PASSING:
                raise
            self._notice = self._word("too_late")

    def _leave(self) -> None:
        try:
            self._chair.post("leave")
        except Refused as refused:
            if refused.status not in PASSING:
                raise
        self._look()

    def _step(self, match: dict[str, Any]) -> None:
        if match["legal"]:
            self._choose(match)
        elif match["phase"] == "intermission" and not match["ready"][self._chair.seat]:
            self._ask(self._word("next"))
            self._chair.post("ready")
        else:
            self._chair.wait()

    def _choose(self, match: dict[str, Any]) -> None:
        legal = match["legal"]
        for number, action in enumerate(legal, 1):
            self._say(f"{number:3}  {xqmj.action_text(action, match['hand'], self._lang)}")
        while True:
            answer = self._ask(self._word("choose", last=len(legal))).strip()
            if answer.casefold() == RESIGN:
                self._chair.post("resign")
                return
            if answer.isdecimal() and 1 <= int(answer) <= len(legal):
                self._chair.act(legal[int(answer) - 1])
                return
            self._say(self._word("not_understood"))

    def _draw(self) -> None:
        match, names = self._chair.sight["match"], self._names()
        hand = match["hand"]
        if hand is None:
            return
        number = self._word("hand", number=match["hand_no"], hands=xqmj.HANDS)
        score = f"{names[0]} {match['scores'][0]} : {match['scores'][1]} {names[1]}"
        wall = self._word("wall", left=hand["wall_left"])
        drawn = xqmj.table(
            hand, names=names, clocks=self._chair.clocks, ink=self._ink, lang=self._lang
        )
        lines = [self._ink.rule(WIDTH), f"{number}   {self._ink.strong(score)}   {wall}", *drawn]
        if hand.get("result") is not None:
            lines.append(self._ink.strong(xqmj.result(hand, names, self._lang)))
        self._say(*([_CLEAR] if self._ink.colour else []), *lines)

    def _tell_end(self) -> None:
        match = self._chair.sight["match"]
        ended = match["ended"]
        if ended["reason"] == "aborted":
            self._say(self._word("ended_void"))
            return
        how = {None: "drawn", self._chair.seat: "won"}.get(ended["winner"], "lost")
        reason = self._word(f"by_{ended['reason']}")
        first, second = match["scores"]
        self._say(f"{first} : {second}   {self._word(f'ended_{how}', reason=reason)}")

    def _names(self) -> tuple[str, str]:
        """What both are called, by seat."""
        level = self._chair.sight["players"][1 - self._chair.seat]["level"]
        return self._word("you"), f"Misty {level}"

    def _word(self, key: str, **values: object) -> str:
        return say(key, self._lang, **values)

    def _trouble(self, text: str) -> None:
        if text:
            self._say(self._word("trouble", text=text))

    def _say(self, *lines: str) -> None:
        self._stream.write("".join(f"{line}\n" for line in lines))
        self._stream.flush()
