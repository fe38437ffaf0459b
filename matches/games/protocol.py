"""What the match around a hand asks of a game.

A `Rules` object is one version of one ruleset with its options. It is
immutable and pure: time and chance come in as arguments, and a hand's state is
a frozen value that only `deal` and `evolve` make.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NewType, Protocol, TypeVar

import msgspec

Seat = NewType("Seat", int)
"""A place at the table: 0, 1, … in the order of joining."""

Detail = Mapping[str, str | int]
"""Facts beside a refusal's code."""

S = TypeVar("S")


class Rejected(Exception):
    """An ordinary refusal: nothing happened, and `code` says why.

    `code` is stable and documented in docs/errors.md. `detail` holds facts that
    the refused seat may know (never hidden ones).
    """

    def __init__(self, code: str, **detail: str | int) -> None:
        super().__init__(code)
        self.code = code
        self.detail: Detail = detail


class CorruptHistory(Exception):
    """The log cannot be true: an event does not fit the state before it."""


class SeatViewer(msgspec.Struct, frozen=True, tag="seat"):
    """Somebody who sits at the table."""

    seat: Seat


class Spectator(msgspec.Struct, frozen=True, tag="spectator"):
    """Somebody who sees public facts only."""


class Auditor(msgspec.Struct, frozen=True, tag="auditor"):
    """Somebody who may see everything: after the end, or staff with a reason."""


Viewer = SeatViewer | Spectator | Auditor
"""Who looks. There is no default: every view and redaction names its viewer."""


class Action(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True
):
    """Base of what a seat may do in a hand; `type` names it on the wire."""


class HandEvent(
    msgspec.Struct,
    frozen=True,
    gc=False,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
):
    """Base of the facts of a hand.

    `clock` is filled by the match around the hand, never by the rules: where
    the event ends a turn that ran on a match clock it holds (spent_ms, left_ms)
    of that seat, increment included in `left_ms`.
    """

    KIND: ClassVar[str]
    V: ClassVar[int] = 1

    clock: tuple[int, int] | None = None


class HandOutcome(msgspec.Struct, frozen=True):
    """How a hand ended: `points` is the change of each seat's total."""

    how: str
    winner: Seat | None
    points: tuple[int, ...]


class Next(msgspec.Struct, frozen=True):
    """What follows a finished hand: the next dealer, or None when the match is over."""

    dealer: Seat | None


class Timing(msgspec.Struct, frozen=True):
    """Who the hand is waiting for, as far as time is concerned.

    `clock` is the seat whose match clock runs (from the pause's end where a
    pause is running). `table` says that the table itself acts next, at the
    pause's end or at once: `Rules.table` gives what it does.
    """

    clock: Seat | None
    table: bool


class Rules(Protocol[S]):
    """One version of one ruleset with its options: all about one hand, and what follows it.

    `S` is the game's own hand state, opaque to everything outside its family.
    """

    key: str
    """Name of the ruleset, such as `xqmj-32-2p`."""
    version: int
    """Rules version; old versions stay executable for ever."""
    seats: int
    """Number of seats."""
    deck: tuple[str, ...]
    """All tiles or cards in canonical order, one entry a copy; a deal is an order of it."""
    options: Mapping[str, str | int | bool]
    """The ruleset's options, all of them, defaults filled in."""
    controls: tuple[str, ...]
    """Names of the clock controls it may be played with, such as `3+2`."""
    rated_controls: frozenset[str]
    """Those of them that may be rated."""
    pause_ms: int
    """Length of the table pause that an event of `pausing` starts."""
    absence_claim_ms: int
    """How long the seat to act may show no activity until the win may be claimed; 0: for ever."""
    pausing: frozenset[type[HandEvent]]
    """The events that start a pause."""
    crediting: frozenset[type[HandEvent]]
    """The events that earn their seat the control's increment."""
    events: tuple[type[HandEvent], ...]
    """Every kind of event of a hand."""
    action: Any
    """The union of the action types, as msgspec decodes it from the wire."""

    def deal(self, order: tuple[str, ...], dealer: Seat) -> S:
        """The state after the deal of `order`, a permutation of `deck`."""
        ...

    def to_act(self, state: S) -> frozenset[Seat]:
        """The seats that have a legal action."""
        ...

    def legal(self, state: S, seat: Seat) -> tuple[Action, ...]:
        """Every legal action of the seat, in canonical order; the only source of legality."""
        ...

    def decide(self, state: S, seat: Seat, action: Action) -> tuple[HandEvent, ...]:
        """The events that the action causes; raises `Rejected` unless `legal` lists it."""
        ...

    def table(self, state: S) -> tuple[HandEvent, ...]:
        """What the table itself does where `timing` says that it acts next."""
        ...

    def evolve(self, state: S, event: HandEvent) -> S:
        """The state after the event; total on valid history, `CorruptHistory` otherwise."""
        ...

    def action_of(self, state: S, event: HandEvent) -> Action | None:
        """The action that causes the event in the state before it; None for an act of the table."""
        ...

    def outcome(self, state: S) -> HandOutcome | None:
        """How the hand ended, None while it is played."""
        ...

    def timing(self, state: S) -> Timing:
        """Who the hand waits for."""
        ...

    def clock(self, state: S) -> Seat | None:
        """The `clock` of `timing`, without the cost of the rest: every folded event asks for it."""
        ...

    def view(self, state: S, viewer: Viewer) -> msgspec.Struct:
        """All that the viewer may know of the hand, built up from nothing."""
        ...

    def dealt(self, state: S, viewer: Viewer) -> msgspec.Struct:
        """What the viewer learns at the moment of the deal."""
        ...

    def redact(self, state: S, event: HandEvent, viewer: Viewer) -> msgspec.Struct | None:
        """What the viewer learns from the event, given the state AFTER it; None: nothing at all."""
        ...

    def first_dealer(self, drawn: Seat) -> Seat:
        """The dealer of hand 1, where `drawn` is a uniformly random seat."""
        ...

    def next_hand(self, hand_no: int, dealer: Seat, outcome: HandOutcome) -> Next:
        """What follows hand `hand_no` (from 1) that `dealer` dealt."""
        ...
