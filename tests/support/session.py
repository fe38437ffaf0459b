"""A document's requests and answers, played against the API and held to what it says.

A block of requests and one of what came back stand in ```http fences. Values
that are new every time (ids, tokens, ETags, secrets, names of players,
instants) may differ, but only all together: where the document has one value
twice, so must the server. `…` stands for what the document leaves out. A
comment `<!-- wait 1500 -->` lets so many milliseconds pass. A ```websocket fence
holds a whole conversation: what `>` the client and `<` the server sends.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.support.api import Answer, Api, InProcess, fresh_name
from tests.support.live import Frames, Live

_PART = re.compile(
    r"^```http\n(.*?)^```$|^<!-- wait (\d+) -->$|^```websocket\n(.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_ID = re.compile(r'(?<=^\{"id": ")[^"]+(?=")')
_NAMED = re.compile(r'[0-9a-f]{32,}|(?:W/)?"[A-Za-z0-9_-]{22}"')
_NEW = re.compile(rf"{_NAMED.pattern}|[0-9a-f-]{{36}}|[A-Za-z0-9+/]{{40,}}={{0,2}}")
_INSTANT = re.compile(r"\b1[67]\d{11}\b")


@dataclass(frozen=True)
class Message:
    """A request or an answer as it stands in the document."""

    first: str
    headers: dict[str, str]
    body: str


class Talk(Message):
    """A request for a socket; its body is what both sides said."""


def parts(text: str) -> Iterator[Message | int]:
    """The document's messages, and the milliseconds to wait between them."""
    for found in _PART.finditer(text):
        if found[2] is not None:
            yield int(found[2])
            continue
        head, _, body = (found[1] or found[3]).partition("\n\n")
        first, *lines = head.strip().split("\n")
        headers = dict(line.split(": ", 1) for line in lines)
        yield (Message if found[1] else Talk)(first, headers, body.strip())


@dataclass
class Session:
    """The server beside the document. `wait` lets time pass, `names` are the document's players."""

    wait: Callable[[int], None]
    names: tuple[str, ...]
    real: dict[str, str] = field(default_factory=dict)
    run_id: str = field(default_factory=lambda: secrets.token_hex(4))

    def __post_init__(self) -> None:
        for name in self.names:
            self.real[name] = fresh_name()

    def run(self, text: str) -> int:
        """Play everything; gives the number of requests. Fails at the first difference."""
        asked, answer = 0, None
        for part in parts(text):
            if isinstance(part, int):
                self.wait(part)
            elif isinstance(part, Talk):
                asyncio.run(self.talk(part))
            elif part.first.startswith("HTTP/1.1 "):
                assert answer is not None, f"{part.first} answers nothing"
                self.check(part, answer)
                answer = None
            else:
                assert answer is None, f"nothing is said of the answer before {part.first}"
                answer, asked = self.ask(part), asked + 1
        return asked

    def ask(self, message: Message) -> Answer:
        """Send a request of the document."""
        method, path = message.first.removesuffix(" HTTP/1.1").split(" ", 1)
        headers = {name: self.translated(value) for name, value in message.headers.items()}
        if "Idempotency-Key" in headers:
            # The document may be played more than once.
            headers["Idempotency-Key"] = f"{self.run_id}-{headers['Idempotency-Key']}"
        body = self.translated(message.body).encode() if message.body else None
        caller = Api(Live() if path.startswith("/live/") else InProcess())
        return caller.request(method, self.translated(path), body=body, headers=headers)

    async def talk(self, talk: Talk) -> None:
        """Say over a socket what the document's client says, and hold the server to its part."""
        headers = {name: self.translated(value) for name, value in talk.headers.items()}
        socket = await Frames(self.translated(talk.first.split(" ", 1)[1]), headers).open()
        for line in talk.body.split("\n"):
            side, text = line.split(" ", 1)
            # The document may be played more than once.
            text = _ID.sub(lambda found: f"{self.run_id}-{found[0]}", text)
            if side == ">":
                await socket.send(self.translated(text))
            else:
                self.same(json.loads(text), await socket.line(), "the line")
        await socket.close()

    def check(self, message: Message, answer: Answer) -> None:
        """Hold an answer against the document's."""
        status = int(message.first.split(" ")[1])
        assert answer.status == status, answer.raw[:500]
        for name, value in message.headers.items():
            self.same(value, answer.headers[name.lower()], name)
        if message.body:
            self.same(_values(message.body), _values(answer.raw.decode()), "the body")
        else:
            assert answer.raw == b""

    def translated(self, text: str) -> str:
        """A text of the document with the server's own values in it."""
        for name in self.names:
            text = re.sub(rf'(?<=[/"]){name}(?=["/]|$)', self.real[name], text)
        return _NAMED.sub(lambda found: self.real.get(found[0], found[0]), text)

    def same(self, told: Any, found: Any, where: str) -> None:
        """Fail unless the server's value is what the document tells."""
        if told == "…":
            return
        if isinstance(told, dict) and isinstance(found, dict):
            keys = told.keys() - {"…"}
            assert keys <= found.keys() if "…" in told else keys == found.keys(), where
            for key in keys:
                self.same(told[key], found[key], f"{where}.{key}")
        elif isinstance(told, list) and isinstance(found, list):
            self._same_list(told, found, where)
        elif isinstance(told, str) and isinstance(found, str):
            self._same_text(told, found, where)
        elif _is_time(told, where) and _is_time(found, where):
            return
        else:
            assert (type(told), told) == (type(found), found), where

    def _same_list(self, told: list[Any], found: list[Any], where: str) -> None:
        if "…" not in told:
            assert len(told) == len(found), f"{where}: {found}"
        else:
            gap = told.index("…")
            tail = len(told) - gap - 1
            assert len(found) >= gap + tail, where
            found = found[:gap] + found[len(found) - tail :]
            told = told[:gap] + told[gap + 1 :]
        for number, (one, other) in enumerate(zip(told, found, strict=True)):
            self.same(one, other, f"{where}[{number}]")

    def _same_text(self, told: str, found: str, where: str) -> None:
        if told in self.real or _NEW.fullmatch(told):
            assert _NEW.fullmatch(found) or told in self.names, where
            assert self.real.setdefault(told, found) == found, f"{where}: not as before"
        elif _INSTANT.search(told):
            assert _INSTANT.sub("", told) == _INSTANT.sub("", self._back(found)), where
        else:
            assert told == found, where

    def _back(self, text: str) -> str:
        """A text of the server with the document's own values in it."""
        for name, value in self.real.items():
            text = text.replace(value, name)
        return text


def _values(text: str) -> Any:
    """A body's value; of a stream, its lines'."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def _is_time(value: Any, where: str) -> bool:
    """Whether it is an instant, or what a clock shows."""
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    return 10**12 < value < 10**13 or re.search(r"\.(left_ms|clock)\[\d\]$", where) is not None
