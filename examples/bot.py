"""A bot for xqmj, on Python's standard library alone: it plays whoever asks, casually.

    XQMJ_TOKEN=... python bot.py http://127.0.0.1:8000
    XQMJ_TOKEN=... python bot.py http://127.0.0.1:8000 --match 01a22e18532f7c029a72f81e73b1c183
    XQMJ_TOKEN=... python bot.py http://127.0.0.1:8000 --challenge misty --matches 1

The token is one of the scope `bot` of a bot account (docs/api.md). It accepts
casual challenges and invitations, and plays all its matches at a time. To make
it stronger, write another `choose`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import time
import urllib.error
import urllib.request
from typing import Any

WAIT_S = 0.7
"""Between two looks: a claim must be made within the 1.5 s after a discard."""
TAKEN_AT_ONCE = {"win": 3, "pung": 2, "chow": 1}
"""What is declared wherever it is legal, the highest first."""


class Refused(Exception):
    """The server said no; `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Server:
    """The API, as one token sees it."""

    def __init__(self, address: str, token: str) -> None:
        self.root = address.rstrip("/") + "/api/v1/"
        self.token = token

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send until it is answered: a write keeps its key, so it is done once."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        if method != "GET":
            headers["Idempotency-Key"] = secrets.token_hex(16)
        data = None if body is None else json.dumps(body).encode()
        for wait_s in (0.5, 1, 2, 4, 8, 16, None):
            request = urllib.request.Request(self.root + path, data, headers, method=method)
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return json.loads(answer.read() or b"null")
            except urllib.error.HTTPError as error:
                found = json.loads(error.read() or b"{}")
                if wait_s is None or error.code not in (429, 500, 502, 503, 504):
                    raise Refused(found.get("code", str(error.code))) from None
                time.sleep(max(wait_s, float(error.headers.get("Retry-After", 0))))
            except OSError:
                if wait_s is None:
                    raise
                time.sleep(wait_s)
        raise AssertionError("the last try answers or raises")


def choose(view: dict[str, Any]) -> dict[str, Any]:
    """The action to take, of those that are legal: this bot wins, claims, or discards by chance."""
    legal: list[dict[str, Any]] = view["legal"]
    best = max(TAKEN_AT_ONCE.get(action["type"], 0) for action in legal)
    return random.choice([one for one in legal if TAKEN_AT_ONCE.get(one["type"], 0) == best])


class Bot:
    """Somebody who plays by `choose`."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.finished: set[str] = set()
        self.playing: set[str] = set()

    def look(self) -> None:
        """Accept what is asked, and go on in every match."""
        for challenge in self.server.ask("GET", "challenges")["received"]:
            if challenge["declined"] is None and challenge["match_id"] is None:
                self.answer(challenge)
        live = self.server.ask("GET", "matches?status=live&limit=100")["matches"]
        now = {match["match_id"] for match in live}
        self.finished |= self.playing - now
        self.playing = now
        for match in live:
            self.step(match["match_id"])

    def answer(self, challenge: dict[str, Any]) -> None:
        """Accept a casual challenge."""
        path = f"challenges/{challenge['id']}"
        if challenge["rated"]:
            self.try_to("POST", f"{path}/decline", {"reason": "casual"})
        else:
            self.try_to("POST", f"{path}/accept", {})

    def step(self, match_id: str) -> None:
        """Do in a match what waits for me."""
        path = f"matches/{match_id}"
        view = self.server.ask("GET", path)["match"]
        if view["you"] is None:
            self.try_to("POST", f"{path}/join", {})
        elif view["legal"]:
            self.try_to("POST", f"{path}/act", {"action": choose(view)})
        elif None not in view["players"] and not view["ready"][view["you"]]:
            self.try_to("POST", f"{path}/ready", {})

    def try_to(self, method: str, path: str, body: dict[str, Any]) -> None:
        """Write; a refusal means that things have changed, and the next look shows how."""
        try:
            self.server.ask(method, path, body)
        except Refused as refused:
            print(f"{path}: {refused.code}", flush=True)


def main() -> None:
    """Play until as many matches are over as were asked for."""
    parser = argparse.ArgumentParser(description="A bot for xqmj")
    parser.add_argument("address")
    parser.add_argument("--match", help="the id of an open match to join")
    parser.add_argument("--challenge", help="the name of a player to challenge")
    parser.add_argument("--control", default="3+2")
    parser.add_argument("--matches", type=int, help="end after so many")
    parser.add_argument("--wait", type=float, default=WAIT_S, help="seconds between two looks")
    asked = parser.parse_args()
    bot = Bot(Server(asked.address, os.environ["XQMJ_TOKEN"]))
    if asked.match:
        bot.try_to("POST", f"matches/{asked.match}/join", {})
    if asked.challenge:
        terms = {"ruleset": "xqmj-32-2p", "control": asked.control, "opponent": asked.challenge}
        bot.server.ask("POST", "challenges", terms)
    while asked.matches is None or len(bot.finished) < asked.matches:
        bot.look()
        time.sleep(asked.wait)


if __name__ == "__main__":
    main()
