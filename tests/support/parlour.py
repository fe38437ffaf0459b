"""A server in this process over a log in memory, on a clock that the test moves."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest

from matches.domain.clock import Due
from matches.domain.commands import Act, Body, Join, Ready
from matches.domain.events import Stamped
from matches.domain.state import Match
from matches.eventstore import codec, sealing
from matches.eventstore.rows import CommandKey
from matches.games.protocol import Action, Seat
from matches.services.cache import Cache, Entry
from matches.services.engine import Engine, Executed
from matches.services.errors import ServiceError
from tests.support.memory_store import Clock, MemoryStore
from tests.support.sitting import ANA, BEN, created

PLAYERS = (ANA, BEN)


def key(name: str, *, body: int = 1) -> CommandKey:
    """The key of a request; another `body` is another request."""
    return CommandKey(UUID(bytes=hashlib.sha256(name.encode()).digest()[:16]), body)


class Parlour:
    """One process's engine, its log, and one match at a time.

    `advance` lets time pass while the service lives, `outage` while it is away.
    """

    def __init__(
        self,
        *,
        store: MemoryStore | None = None,
        may_beat: bool = True,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        self.clock = Clock() if store is None else store.clock
        self.store = MemoryStore(self.clock) if store is None else store
        self.commits: list[tuple[int, Due | None]] = []
        self.engine = Engine(
            store=self.store,
            cache=Cache(64),
            may_beat=may_beat,
            committed=self._committed,
            sleep=self.sleep if sleep is None else sleep,
        )
        self.match_id = UUID(int=0)

    def beside(self, *, may_beat: bool = True) -> Parlour:
        """Another process over the same log, at the same match."""
        other = Parlour(store=self.store, may_beat=may_beat)
        other.match_id = self.match_id
        return other

    # --- time ---------------------------------------------------------------------------------

    def advance(self, ms: int) -> None:
        """Let time pass; the heart beats."""
        self.clock.advance(ms)
        self.store.alive_ms = self.clock()

    def outage(self, ms: int) -> None:
        """Let time pass; nobody can reach the service."""
        self.clock.advance(ms)

    def sleep(self, seconds: float) -> None:
        """What the engine's waiting does to the clock."""
        self.advance(round(seconds * 1000))

    def to(self, at_ms: int) -> None:
        """Advance to an instant."""
        self.advance(at_ms - self.clock())

    # --- what is done -------------------------------------------------------------------------

    def create(self, *, key: CommandKey | None = None, **changes: Any) -> Executed:
        """Begin a match of ANA's and stay with it."""
        match_id, secret = uuid4(), secrets.token_bytes(32)
        sealed, key_id = sealing.seal(secret, match_id)
        done = self.engine.create(
            creator=ANA,
            key=key,
            match_id=match_id,
            created=created(secret=secret, sealed=sealed, key_id=key_id, **changes),
            secret=secret,
        )
        self.match_id = done.entry.match_id
        return done

    def send(self, player: str, body: Body, **options: Any) -> Executed:
        """Let a player command something."""
        return self.engine.execute(match_id=self.match_id, player=player, body=body, **options)

    def act(self, seat: Seat, action: Action, **options: Any) -> Executed:
        """Let a seat act in the hand."""
        return self.send(PLAYERS[seat], Act(action), **options)

    def deal(self, **changes: Any) -> None:
        """Begin a match and deal its first hand."""
        self.create(**changes)
        self.send(BEN, Join())
        self.send(ANA, Ready())
        self.send(BEN, Ready())

    def observe(self) -> Entry:
        """The match, as a read finds it."""
        return self.engine.observe(self.match_id)

    # --- what is looked at --------------------------------------------------------------------

    @property
    def match(self) -> Match:
        """The match as the log holds it, folded anew."""
        fresh = Engine(store=self.store, cache=Cache(1), may_beat=False, committed=lambda *_: None)
        return fresh.peek(self.match_id).match

    @property
    def log(self) -> list[Stamped]:
        """Every event."""
        return codec.decode_rows(self.store.rows(self.match_id))

    @property
    def kinds(self) -> list[str]:
        """The kinds of all events."""
        return [stamped.event.KIND for stamped in self.log]

    def trips(self) -> list[str]:
        """The trips to the log since this was last asked."""
        trips, self.store.trips[:] = list(self.store.trips), []
        return trips

    def _committed(self, entry: Entry, due: Due | None) -> None:
        self.commits.append((entry.version, due))


def refusal(parlour: Parlour, *args: Any, **options: Any) -> ServiceError:
    """The refusal of a command; it must be one."""
    with pytest.raises(ServiceError) as refused:
        parlour.send(*args, **options)
    return refused.value


def flag_of(parlour: Parlour) -> int:
    """The instant at which the running clock is at zero: an action then still stands."""
    match = parlour.match
    assert match.on_clock is not None
    return match.clock_from_ms + match.clocks[match.on_clock]


def lose_races(parlour: Parlour, *, times: int, each_ms: int) -> None:
    """Let the next appends come too late, each after some time."""
    append = parlour.store.append
    left = [None] * times

    def late(**row: Any) -> Any:
        if not left:
            return append(**row)
        left.pop()
        parlour.advance(each_ms)
        return append(**{**row, "expected_version": row["expected_version"] - 1})

    parlour.store.append = late  # type: ignore[method-assign]
