"""Matches and players as ratings ask for them, out of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple
from uuid import UUID, uuid4

ANN, BEN, CAT, DAN = (UUID(int=n) for n in range(1, 5))
START_MS = 1_700_000_000_000
MINUTE_MS = 60_000


class Position(NamedTuple):
    """Where a match stands in the order of ends."""

    ended_order: int
    match_id: UUID


@dataclass(frozen=True)
class Finished:
    """A finished rated match."""

    match_id: UUID
    ruleset: str
    control: str
    players: tuple[str, ...]
    places: tuple[int, ...]
    ended_at_ms: int
    ended_order: int

    @property
    def cursor(self) -> Position:
        return Position(self.ended_order, self.match_id)


class PlayerRef(NamedTuple):
    """Who has a name."""

    public_id: str
    username: str
    kind: str


@dataclass
class FakeQueries:
    """Stands in for `matches.services.queries`."""

    finished: list[Finished] = field(default_factory=list)
    names: dict[UUID, str] = field(default_factory=dict)
    reads: int = 0
    on_read: Callable[[], None] = lambda: None

    Cursor: type[Position] = Position

    def finish(
        self,
        *players: UUID,
        places: tuple[int, ...] = (1, 2),
        control: str = "3+2",
        at_ms: int | None = None,
        order: int | None = None,
        match_id: UUID | None = None,
    ) -> Finished:
        """End one more match, a minute after the one before it."""
        n = len(self.finished)
        match = Finished(
            match_id=match_id or uuid4(),
            ruleset="xqmj-32-2p",
            control=control,
            players=tuple(player.hex for player in (players or (ANN, BEN))),
            places=places,
            ended_at_ms=START_MS + n * MINUTE_MS if at_ms is None else at_ms,
            ended_order=1 + n if order is None else order,
        )
        self.finished.append(match)
        return match

    def finished_rated(self, *, after: Position | None, limit: int) -> list[Finished]:
        self.reads += 1
        self.on_read()
        ordered = sorted(self.finished, key=lambda match: match.cursor)
        return [match for match in ordered if after is None or match.cursor > after][:limit]

    def rated_controls(self) -> Mapping[str, frozenset[str]]:
        return MappingProxyType({"xqmj-32-2p": frozenset({"1+1", "3+2", "5+5"})})

    def player_by_username(self, username: str) -> PlayerRef | None:
        for public_id, name in self.names.items():
            if name.casefold() == username.casefold():
                return PlayerRef(public_id.hex, name, "registered")
        return None

    def usernames(self, public_ids: Iterable[str]) -> dict[str, str]:
        return {hexed: self.names[UUID(hexed)] for hexed in public_ids if UUID(hexed) in self.names}
