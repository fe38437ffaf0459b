"""Small streams to append to: what the store keeps need not be a game."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from matches.domain.clock import Due
from matches.domain.events import Event, SeatTaken, Stamped
from matches.eventstore import codec, hashing, store
from matches.eventstore.ids import new_match_id
from matches.eventstore.rows import LIVE, Appended, CommandKey, Created, Row
from matches.games.protocol import Seat
from matches.games.xqmj.events import TileDiscarded, TileDrawn
from tests.support.sitting import created

BEGIN_MS = 1_700_000_000_000


def key(fingerprint: int = 7) -> CommandKey:
    """The name of a request that nobody made before."""
    return CommandKey(uuid4(), fingerprint)


def drawn(at_ms: int = BEGIN_MS, actor: int | None = None) -> Stamped:
    """Some event: of the table, or of a seat's command."""
    if actor is None:
        return Stamped(TileDrawn(), at_ms, None)
    return Stamped(TileDiscarded(tile="rC", drawn=True, clock=(17, 180_000)), at_ms, Seat(actor))


class Stream:
    """A match as its only writer knows it."""

    def __init__(self, match_id: UUID | None = None) -> None:
        self.match_id = match_id or new_match_id()
        self.creator = uuid4().hex
        self.rows: list[Row] = []

    @property
    def version(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    @property
    def head_hash(self) -> bytes:
        """The hash of the newest row."""
        return self.rows[-1].hash if self.rows else hashing.GENESIS

    def next_rows(
        self, stampeds: Sequence[Stamped], *, named: CommandKey | None = None
    ) -> tuple[Row, ...]:
        """Rows that would follow."""
        return codec.new_rows(
            stampeds,
            match_id=self.match_id,
            after=self.version,
            prev_hash=self.head_hash,
            key=named,
        )

    def create(
        self,
        *,
        named: CommandKey | None = None,
        due: Due | None = None,
        rated: bool = False,
        players: tuple[str | None, ...] | None = None,
        at_ms: int = BEGIN_MS,
    ) -> Created:
        """Create the match."""
        seats = (self.creator, None) if players is None else players
        event: Event = created(players=seats)
        rows = self.next_rows((Stamped(event, at_ms, None),), named=named)
        done = store.create(
            match_id=self.match_id,
            creator=self.creator,
            key=named,
            rows=rows,
            ruleset="xqmj-32-2p",
            rules_version=1,
            control="3+2",
            rated=rated,
            players=seats,
            due=due,
        )
        if done.outcome == "ok":
            self.rows += rows
        return done

    def append(self, *stampeds: Stamped, named: CommandKey | None = None, **facts: Any) -> Appended:
        """Append events; what the log took, the stream remembers."""
        rows = self.next_rows(stampeds, named=named)
        done = self.write(rows, **facts)
        if done.outcome == "ok":
            self.rows += rows
        return done

    def write(self, rows: Sequence[Row], **facts: Any) -> Appended:
        """Append rows, which the stream does not remember."""
        usual: dict[str, Any] = {
            "match_id": self.match_id,
            "expected_version": self.version,
            "prev_hash": self.head_hash,
            "status": LIVE,
            "due": None,
        }
        return store.append(rows=rows, **(usual | facts))

    def taken(self, seat: int, player: str, *, at_ms: int = BEGIN_MS) -> Appended:
        """Append that a player sat down."""
        event = Stamped(SeatTaken(seat=Seat(seat), player=player), at_ms, Seat(seat))
        return self.append(event, taken=((seat, player),))


def begun(**facts: Any) -> Stream:
    """A stream of one event."""
    stream = Stream()
    assert stream.create(**facts).outcome == "ok"
    return stream


def shuffled(values: Sequence[Any], seed: int) -> list[Any]:
    """The values in another order."""
    order = list(values)
    random.Random(seed).shuffle(order)
    return order
