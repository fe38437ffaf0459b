"""Two players at a table in the real log, and processes that play there."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from uuid import UUID, uuid4

from matches.domain.commands import Body, Join, Ready
from matches.eventstore import codec, store
from matches.eventstore.rows import CommandKey, Row
from matches.services import matches
from matches.services.accounts import Identity
from matches.services.cache import Cache, Entry
from matches.services.engine import Engine, Executed
from matches.services.ports import Store

T = TypeVar("T")


def process(*, may_beat: bool = True, over: Store = store) -> Engine:
    """An engine such as another process would have."""
    return Engine(store=over, cache=Cache(1024), may_beat=may_beat, committed=lambda *_: None)


def key(name: str | None = None, *, body: int = 1) -> CommandKey:
    """The key of a request; without a name a new one."""
    digest = hashlib.sha256((name or uuid4().hex).encode()).digest()
    return CommandKey(UUID(bytes=digest[:16]), body)


class Seated:
    """A match of two players."""

    def __init__(self, players: Sequence[Identity], **options: Any) -> None:
        self.players = [player.id for player in players]
        self.options = {"ruleset": "xqmj-32-2p", "control": "3+2", **options}
        self.match_id = matches.create_match(creator=players[0], **self.options).entry.match_id
        self.engine = process()
        self.sent: list[tuple[str, Body, CommandKey, Executed]] = []

    def send(self, seat: int, body: Body) -> Executed:
        """Let a seat command something under a key of its own, and remember it."""
        named, player = key(), self.players[seat]
        done = self.engine.execute(match_id=self.match_id, player=player, body=body, key=named)
        self.sent.append((player, body, named, done))
        return done

    def deal(self) -> Seated:
        """Seat both and deal the first hand."""
        self.send(1, Join())
        self.send(0, Ready())
        self.send(1, Ready())
        return self

    def observe(self) -> Entry:
        """The match, settled."""
        return self.engine.observe(self.match_id)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Every row."""
        loaded = store.load(self.match_id)
        assert loaded is not None
        return loaded.rows

    @property
    def kinds(self) -> list[str]:
        """The kinds of all events."""
        return [stamped.event.KIND for stamped in codec.decode_rows(self.rows)]


def at_once(*calls: Callable[[], T]) -> list[T | Exception]:
    """Make all calls at the same time, each in a thread; gives results or errors in order."""
    barrier = threading.Barrier(len(calls))
    results: list[T | Exception] = [RuntimeError("not called")] * len(calls)

    def run(index: int, call: Callable[[], T]) -> None:
        barrier.wait()
        try:
            results[index] = call()
        except Exception as error:
            results[index] = error

    threads = [threading.Thread(target=run, args=(index, call)) for index, call in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
