"""What the services need of stores: the event store's modules as they are, or a test's memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol
from uuid import UUID

import msgspec

from matches.domain.clock import Due
from matches.eventstore.rows import (
    Appended,
    Beat,
    CommandKey,
    Created,
    DueMatches,
    Loaded,
    Row,
    Summary,
)
from matches.eventstore.turns import Taken, Turn


class RatingOf(Protocol):
    """Knows how strong players are; what rates them is not this package's to know."""

    def __call__(self, *, player: str, ruleset: str, control: str) -> int | None:
        """The rating of a player (id in hex) where a rated match of these counts; None: nowhere."""
        ...


class RatingsOf(Protocol):
    """Knows the ratings of many players at once."""

    def __call__(self, players: Collection[str], /) -> Mapping[str, Mapping[str, int]]:
        """Of each player (id in hex) who has any: the ratings in whole points, by pool."""
        ...


class RatedChange(msgspec.Struct, frozen=True):
    """What a rated match did to a player's rating in a pool; ratings as exact decimals."""

    pool: str
    match_id: str
    at_ms: int
    before: str
    after: str


class RatedChanges(Protocol):
    """Knows the history of a player's ratings."""

    def __call__(self, *, player: str) -> tuple[RatedChange, ...]:
        """Every change of a player (id in hex), pool by pool, the newest first."""
        ...


class Standing(msgspec.Struct, frozen=True, omit_defaults=True):
    """How strong a player was when a match began, in whole points; `provisional`: as far as known.

    Of a rated match also the share of a point that the player could expect of
    the other, with 6 places, and by how many points a win, a draw or a loss
    moves the rating.
    """

    rating: int
    provisional: bool
    expected: str | None = None
    win: int | None = None
    draw: int | None = None
    loss: int | None = None


class AtStart(Protocol):
    """Knows how strong the players of a match were when it began."""

    def __call__(
        self,
        *,
        players: tuple[str | None, ...],
        ruleset: str,
        control: str,
        rated: bool,
        at_ms: int,
    ) -> tuple[Standing | None, ...] | None:
        """By seat, None for those (ids in hex) who are not rated (None) or where nothing is.

        None for the whole while it is not known yet: an earlier match of one
        of them is still to be rated.
        """
        ...


class Store(Protocol):
    """The log. Every call is one trip and may raise `Unavailable`."""

    def now(self) -> int:
        """The database clock, in ms."""
        ...

    def load(self, match_id: UUID, *, after_version: int = 0) -> Loaded | None:
        """The head, the clock, and the events after a version; None: no such match."""
        ...

    def append(
        self,
        *,
        match_id: UUID,
        expected_version: int,
        prev_hash: bytes,
        rows: Sequence[Row],
        status: int,
        due: Due | None,
        taken: Sequence[tuple[int, str]] = (),
        summary: Summary | None = None,
    ) -> Appended:
        """Append the rows if the match still stands where the caller thinks."""
        ...

    def create(
        self,
        *,
        match_id: UUID,
        creator: str,
        key: CommandKey | None,
        rows: Sequence[Row],
        ruleset: str,
        rules_version: int,
        control: str,
        rated: bool,
        players: Sequence[str | None],
        due: Due | None,
    ) -> Created:
        """Begin a match, or find the one that the same key began."""
        ...

    def created_by(self, creator: str, key: CommandKey) -> Created | None:
        """What the key made before, None where it has made nothing."""
        ...

    def beat(self) -> Beat:
        """Say that players can reach the service now."""
        ...

    def due(self, limit: int, exclude: Collection[UUID]) -> DueMatches:
        """Matches whose table has something to do."""
        ...


class Turns(Protocol):
    """The rows that remind workers of the computer's turns; as a `Store`, in one trip a call."""

    def note(self, turns: Iterable[Turn], /) -> None:
        """Write a row for each match, unless one of the same or a newer version is there."""
        ...

    def take(self, limit: int, exclude: Collection[UUID], /) -> Taken:
        """Take rows that are due, for a while."""
        ...

    def lost(self, players: Sequence[str], limit: int, exclude: Collection[UUID], /) -> list[UUID]:
        """Live matches of these players whose row is missing or old."""
        ...

    def forget_ended(self) -> int:
        """Delete the rows of matches that are over."""
        ...
