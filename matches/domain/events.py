"""The facts of a match that are not facts of a hand (kinds `match.*`), and the envelope of both."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from matches.games.protocol import HandEvent, Seat

EndReason = Literal["score", "flag", "resignation", "forfeit", "absence", "aborted"]
"""How a match ends: by its score, a flag, a resignation, leaving, a claim against a seat that has
gone, or never having begun."""


class MatchEvent(
    msgspec.Struct,
    frozen=True,
    gc=False,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """Base of the match's own facts."""

    KIND: ClassVar[str]
    V: ClassVar[int] = 1


class MatchCreated(MatchEvent, frozen=True, kw_only=True):
    """The match exists: everything that stays fixed for its whole life.

    `commitment` is sha256 of the secret, in hex. `sealed` is the secret under
    AES-GCM, base64, with the key named `key_id` and the match id as AAD.
    `players` are those who sit already, by seat; `invited` is the only player who
    may take the open seat (None: whoever has the link). `deal` and `flow` name
    the versions of the deal and of the match around the hands; `options` holds
    every option, so that a later default changes no old match. A rematch names
    the match that it follows (its id in hex) and the seat that deals first.
    """

    KIND: ClassVar[str] = "match.created"

    ruleset: str
    rules_version: int
    options: dict[str, str | int | bool]
    control: str
    rated: bool
    players: tuple[str | None, ...]
    invited: str | None = None
    deal: str
    flow: str
    commitment: str
    sealed: str
    key_id: str
    rematch_of: str | None = None
    first_dealer: Seat | None = None


class SeatTaken(MatchEvent, frozen=True, kw_only=True):
    """A player sits down."""

    KIND: ClassVar[str] = "match.seat_taken"

    seat: Seat
    player: str


class SeatReady(MatchEvent, frozen=True, kw_only=True):
    """A seat is ready for hand `hand` (from 1); before the first it may add a nonce (hex)."""

    KIND: ClassVar[str] = "match.seat_ready"

    seat: Seat
    hand: int
    nonce: str | None = None


class HandDealt(MatchEvent, frozen=True, kw_only=True):
    """Hand `hand` (from 1) is dealt by `dealer`; its tiles follow from the secret."""

    KIND: ClassVar[str] = "match.hand_dealt"

    hand: int
    dealer: Seat


class ClockCredited(MatchEvent, frozen=True, kw_only=True):
    """The service was down for a while: whoever was on the clock gets the time back.

    It was down from `down_from_ms` to `down_until_ms`; `credit_ms` is the part
    of that in which a clock or a deadline had run.
    """

    KIND: ClassVar[str] = "match.clock_credited"

    down_from_ms: int
    down_until_ms: int
    credit_ms: int


class MatchEnded(MatchEvent, frozen=True, kw_only=True):
    """The one end of a match: result, final scores, and the secret of the deal (hex).

    `winner` is None for a draw and for an aborted match; `seat` is the seat
    whose flag, resignation, leaving or absence ended it, or the seat that was
    kept for whoever declined it. `clock` is (spent_ms, left_ms) of the seat
    whose clock was running, where one was. `absent_from_ms` is the instant from
    which on an absent seat had shown no activity in its turn (XM-87).
    """

    KIND: ClassVar[str] = "match.ended"

    reason: EndReason
    winner: Seat | None = None
    seat: Seat | None = None
    scores: tuple[int, ...]
    secret: str
    clock: tuple[int, int] | None = None
    absent_from_ms: int | None = None


Event = MatchEvent | HandEvent

MATCH_EVENTS: tuple[type[MatchEvent], ...] = (
    MatchCreated,
    SeatTaken,
    SeatReady,
    HandDealt,
    ClockCredited,
    MatchEnded,
)


class Stamped(msgspec.Struct, frozen=True, gc=False):
    """An event with its instant and its cause.

    `at_ms` is integer milliseconds of the database clock: when the command was
    received, or when the table's act was due (not when somebody noticed).
    `actor` is the seat whose command caused it, None for the table.
    """

    event: Event
    at_ms: int
    actor: Seat | None
