"""Players over HTTP who hold on, and a book of everything that they were told.

A player repeats a write under its Idempotency-Key until somebody answers it,
whatever happens to the server meanwhile.
"""

from __future__ import annotations

import contextlib
import http.client
import random
import secrets
import threading
import time
from collections import Counter
from typing import Any

import msgspec

from matches.bots.policies import Policy, Uniform
from matches.management.demo.xqmj import chosen
from tests.faults.service import Service

TRY_S = 15.0
"""One try takes no longer."""
PATIENCE_S = 120.0
MEANT = (200, 201, 204, 409, 410, 412, 503)
"""What a player may be answered; 503 only with a time to try again after, and all in JSON."""
PAUSE_S = (0.02, 0.2)
"""Between two tries."""


class Sent(msgspec.Struct, kw_only=True):
    """A write and what came of it; instants are of the monotonic clock.

    `tried_s` is when the try began that was answered, `status` its answer (0: none).
    """

    player: str
    path: str
    key: str
    body: dict[str, Any]
    tries: list[str] = []
    tried_s: float = 0.0
    answered_s: float = 0.0
    status: int = 0
    answer: Any = None

    @property
    def acknowledged(self) -> bool:
        """Whether the player was told that it is done."""
        return self.status in (200, 201)

    @property
    def match_id(self) -> str:
        """The match that it is about, or that it made."""
        if self.path.endswith("/matches"):
            return str(self.answer["match"]["match_id"])
        return self.path.split("/")[4]


class Book:
    """What all players sent, and what came back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.writes: list[Sent] = []
        self.tries = Counter[str]()
        self.wrong: list[str] = []
        self._in_flight = 0
        self._took_off = threading.Condition(self._lock)

    def begin(self, sent: Sent) -> None:
        """A try of a write is on its way."""
        with self._lock:
            if not sent.tries:
                self.writes.append(sent)
            self._in_flight += 1
            self._took_off.notify_all()

    def end(self) -> None:
        """A try of a write came back, or did not."""
        with self._lock:
            self._in_flight -= 1

    def count(self, outcome: str) -> None:
        """One try came to this."""
        with self._lock:
            self.tries[outcome] += 1

    def complain(self, text: str) -> None:
        """A player got what it must never get."""
        with self._lock:
            self.wrong.append(text)

    def wait_for_a_write(self, *, within_s: float) -> bool:
        """Whether a write is under way in time."""
        with self._lock:
            return self._took_off.wait_for(lambda: self._in_flight > 0, within_s)

    def acknowledged(self, *, since_s: float = 0.0) -> list[Sent]:
        """The acknowledged writes whose answered try began after an instant."""
        with self._lock:
            return [one for one in self.writes if one.acknowledged and one.tried_s >= since_s]


class Unanswered(Exception):
    """Nobody answered for as long as a player has patience."""


class Caller:
    """One player with a token; used by one thread at a time.

    `persists`: asks again after a refusal that asks for it, and after no answer at all.
    """

    def __init__(
        self, port: int, book: Book, *, chance: random.Random, persists: bool = True
    ) -> None:
        self._port = port
        self.book = book
        self.chance = chance
        self._persists = persists
        self._connection: http.client.HTTPConnection | None = None
        self.token: str | None = None
        self.id = ""

    def enter(self) -> Caller:
        """Become a guest."""
        answer = self.post("auth/guest", {}).answer
        self.token, self.id = answer["token"], answer["player"]["id"]
        return self

    def register(self) -> Caller:
        """Become somebody with a name, who may be rated."""
        body = {"username": f"f{secrets.token_hex(8)}", "password": secrets.token_hex(12)}
        answer = self.post("auth/register", body).answer
        self.token, self.id = answer["token"], answer["player"]["id"]
        return self

    def get(self, path: str) -> Any:
        """What stands there."""
        status, answer = self._persist("GET", f"/api/v1/{path}", None, {}, None)
        assert status == 200, (path, status, answer)
        return answer

    def look(self, path: str) -> int:
        """The status of what stands there; 0: no answer."""
        return self._persist("GET", f"/api/v1/{path}", None, {}, None)[0]

    def post(self, path: str, body: dict[str, Any], *, key: str | None = None) -> Sent:
        """Write, once, and tell what came of it."""
        sent = Sent(
            player=self.id, path=f"/api/v1/{path}", key=key or secrets.token_hex(12), body=body
        )
        headers = {"Content-Type": "application/json", "Idempotency-Key": sent.key}
        encoded = msgspec.json.encode(body)
        sent.status, sent.answer = self._persist("POST", sent.path, encoded, headers, sent)
        sent.answered_s = time.monotonic()
        return sent

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _persist(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], sent: Sent | None
    ) -> tuple[int, Any]:
        give_up_s = time.monotonic() + PATIENCE_S
        while True:
            if sent is not None:
                self.book.begin(sent)
                sent.tried_s = time.monotonic()
            try:
                status, answer = self._once(method, path, body, headers)
                outcome = str(status)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                status, answer, outcome = 0, None, type(error).__name__
            finally:
                if sent is not None:
                    self.book.end()
            self.book.count(outcome)
            if sent is not None:
                sent.tries.append(outcome)
            if status not in (0, 503) or not self._persists:
                return status, answer
            if time.monotonic() > give_up_s:
                raise Unanswered(f"{method} {path}: {outcome}")
            time.sleep(self.chance.uniform(*PAUSE_S))

    def _once(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, Any]:
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=TRY_S)
        if self.token is not None:
            headers = {**headers, "Authorization": f"Bearer {self.token}"}
        self._connection.request(method, path, body=body, headers=headers)
        found = self._connection.getresponse()
        raw = found.read()
        answer = None
        with contextlib.suppress(msgspec.DecodeError):
            answer = msgspec.json.decode(raw) if raw else {}
        again = (found.getheader("Retry-After") or "").isdecimal()
        if found.status not in MEANT or answer is None or (found.status == 503 and not again):
            at = time.strftime("%H:%M:%S", time.gmtime())
            self.book.complain(
                f"{at} {method} {path}: {found.status} {dict(found.getheaders())} {raw!r}"
            )
        return found.status, answer


class Table:
    """Two players who play one match after the other until they are told to stop."""

    def __init__(self, port: int, book: Book, *, seed: str, control: str = "3+2") -> None:
        self.chance = random.Random(seed)
        self.players = [Caller(port, book, chance=self.chance) for _ in range(2)]
        self.policy: Policy = Uniform(self.chance, takes_wins=True)
        self.control = control
        self.match_id = ""
        self.resigns = 0.01
        """How likely a player gives up when it could move."""
        self.rated = False

    def enter(self) -> None:
        """Two guests, or two with names where matches are to be rated."""
        for player in self.players:
            if self.rated:
                player.register()
            else:
                player.enter()

    def close(self) -> None:
        """Close the connections."""
        for player in self.players:
            player.close()

    def play(self, stop: threading.Event) -> None:
        """Play on and on."""
        while not stop.is_set():
            if not self.match_id:
                self.begin()
            self.step()

    def begin(self) -> str:
        """Sit down at a new match, and be ready."""
        self.pair()
        for player in self.players:
            self.send(player, "ready")
        return self.match_id

    def pair(self) -> str:
        """Sit down at a new match."""
        body = {"ruleset": "xqmj-32-2p", "control": self.control, "rated": self.rated}
        self.match_id = self.players[0].post("matches", body).match_id
        self.send(self.players[1], "join")
        return self.match_id

    def send(self, player: Caller, what: str, **body: Any) -> Sent:
        """Let one of the two command something."""
        return player.post(f"matches/{self.match_id}/{what}", body)

    def step(self) -> None:
        """Whoever may act does; if nobody may, wait for something to happen."""
        seq = 0
        for player in self.players:
            told = player.get(f"matches/{self.match_id}")
            match, seq = told["match"], told["seq"]
            if match["ended"] is not None:
                self.match_id = ""
                return
            if self._moved(player, match, seq):
                return
        self.players[1].get(f"matches/{self.match_id}/events?after={seq}&wait=2")

    def _moved(self, player: Caller, match: dict[str, Any], seq: int) -> bool:
        if match["legal"]:
            seen = {"expected_seq": seq} if self.chance.random() < 0.5 else {}
            if self.chance.random() < self.resigns:
                self.send(player, "resign")
            else:
                action = chosen(match["hand"], match["legal"], self.policy)
                self.send(player, "act", action=action, **seen)
            return True
        ready = match["phase"] == "intermission" and not match["ready"][match["you"]]
        if ready:
            self.send(player, "ready")
        return bool(ready)


class Playing:
    """Tables that play, each in a thread of its own, until the block ends."""

    def __init__(self, port: int, *, tables: int, seed: int, control: str = "3+2") -> None:
        self.book = Book()
        self.tables = [
            Table(port, self.book, seed=f"{seed}/{n}", control=control) for n in range(tables)
        ]
        self.beside: list[Table] = []
        """Tables of the same book that play by themselves."""
        self._stop = threading.Event()
        self._errors: list[BaseException] = []
        self._threads = [
            threading.Thread(target=self._run, args=(table,), daemon=True) for table in self.tables
        ]

    def __enter__(self) -> Playing:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(PATIENCE_S)
        for table in self.beside:
            table.close()

    @property
    def callers(self) -> list[Caller]:
        """Every player."""
        return [caller for table in (*self.tables, *self.beside) for caller in table.players]

    def check(self, service: Service) -> None:
        """Fail where a player failed or got what it must never get."""
        assert not self.book.wrong, service.told_around(self.book.wrong)
        if self._errors:
            raise self._errors[0]

    def _run(self, table: Table) -> None:
        try:
            table.enter()
            table.play(self._stop)
        except BaseException as error:
            self._errors.append(error)
        finally:
            table.close()
