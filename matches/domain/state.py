"""A match as it stands after some of its events: frozen, made by `evolve` only."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import msgspec

from matches.domain.clock import Control
from matches.domain.events import MatchCreated, MatchEnded, Stamped
from matches.games.protocol import HandOutcome, Rejected, Rules, Seat

Phase = Literal["open", "readying", "playing", "intermission", "ended"]
"""A seat is free; all sit and get ready; a hand is played; between hands; over."""


class Setup(msgspec.Struct, frozen=True):
    """What never changes: the rules, the clock and the secret of the deal."""

    match_id: bytes
    rules: Rules[Any]
    control: Control
    created: MatchCreated
    secret: bytes


class Match(msgspec.Struct, frozen=True, gc=False):
    """The whole state of a match.

    `since_ms` is when the phase began to wait (creation, pairing, a hand's
    end). `on_clock` is the seat whose clock runs from `clock_from_ms` on;
    `clocks` are what is left in ms, as last accounted. `pause_until_ms` is the
    end of the newest pause. `credited_ms` is up to when downtime was given back.
    """

    setup: Setup
    version: int
    at_ms: int
    phase: Phase
    since_ms: int
    players: tuple[str | None, ...]
    nonces: tuple[bytes, ...]
    ready: tuple[bool, ...]
    hand_no: int
    dealer: Seat | None
    hand: Any
    on_clock: Seat | None
    clock_from_ms: int
    pause_until_ms: int
    clocks: tuple[int, ...]
    scores: tuple[int, ...]
    outcomes: tuple[HandOutcome, ...]
    credited_ms: int
    ended: MatchEnded | None


class Moved(NamedTuple):
    """A match after more events, and these events."""

    match: Match
    events: tuple[Stamped, ...]


def seat_of(match: Match, player: str) -> Seat:
    """The seat of the player; raises `Rejected("not_a_seat")` for anybody else."""
    if player not in match.players:
        raise Rejected("not_a_seat")
    return Seat(match.players.index(player))


def placed(values: tuple[Any, ...], seat: int, value: Any) -> tuple[Any, ...]:
    """The tuple with the seat's value replaced."""
    changed = list(values)
    changed[seat] = value
    return tuple(changed)
