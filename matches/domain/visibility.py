"""What each viewer sees of a match: views and event lines, built up from nothing.

Nothing here starts from the whole state and takes away; a field exists for a
viewer because a function below puts it there. There is no default viewer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from matches.domain.events import (
    ClockCredited,
    EndReason,
    HandDealt,
    MatchCreated,
    MatchEnded,
    SeatReady,
    SeatTaken,
    Stamped,
)
from matches.domain.settle import due_at
from matches.domain.state import Match, Phase
from matches.games.protocol import (
    Action,
    HandEvent,
    HandOutcome,
    Seat,
    SeatViewer,
    Viewer,
)


class Line(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One event as one viewer may know it; `seq` is dense from 1 for that viewer.

    `clock` is (spent_ms, left_ms) where the event ended a running turn.
    """

    seq: int
    at_ms: int
    kind: str
    actor: Seat | None
    data: Any
    clock: tuple[int, int] | None = None


class Clocks(msgspec.Struct, frozen=True):
    """`left_ms` of each seat as last accounted; that of `running` runs from `from_ms` on."""

    left_ms: tuple[int, ...]
    running: Seat | None
    from_ms: int


class Ending(msgspec.Struct, frozen=True):
    """How the match ended, and the secret that proves its deals."""

    reason: EndReason
    winner: Seat | None
    seat: Seat | None
    scores: tuple[int, ...]
    secret: str


class MatchView(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything a viewer may know of the match now.

    `legal` is None for a viewer without a seat. `due_at_ms` is the next
    instant at which the table acts, the pause's end aside. A rematch has
    `rematch_of`, the id of the match that it follows.
    """

    match_id: str
    ruleset: str
    rules_version: int
    options: dict[str, str | int | bool]
    control: str
    rated: bool
    commitment: str
    phase: Phase
    you: Seat | None
    players: tuple[str | None, ...]
    ready: tuple[bool, ...]
    hand_no: int
    dealer: Seat | None
    scores: tuple[int, ...]
    outcomes: tuple[HandOutcome, ...]
    clocks: Clocks
    pause_until_ms: int
    due_at_ms: int | None
    hand: Any
    legal: tuple[Action, ...] | None
    ended: Ending | None
    rematch_of: str | None = None


def view(match: Match, viewer: Viewer) -> MatchView:
    """The match as the viewer may know it."""
    setup, created = match.setup, match.setup.created
    seat = viewer.seat if isinstance(viewer, SeatViewer) else None
    return MatchView(
        match_id=setup.match_id.hex(),
        ruleset=created.ruleset,
        rules_version=created.rules_version,
        options=dict(setup.rules.options),
        control=created.control,
        rated=created.rated,
        commitment=created.commitment,
        phase=match.phase,
        you=seat,
        players=match.players,
        ready=match.ready,
        hand_no=match.hand_no,
        dealer=match.dealer,
        scores=match.scores,
        outcomes=match.outcomes,
        clocks=clocks(match),
        pause_until_ms=match.pause_until_ms,
        due_at_ms=visible_due_ms(match),
        hand=None if match.hand is None else setup.rules.view(match.hand, viewer),
        legal=None if seat is None else _legal(match, seat),
        ended=None if match.ended is None else _ending(match.ended),
        rematch_of=created.rematch_of,
    )


def clocks(match: Match) -> Clocks:
    """The clocks, which are public (XM-74)."""
    return Clocks(match.clocks, match.on_clock, match.clock_from_ms)


def visible_due_ms(match: Match) -> int | None:
    """When the table acts next, the pause aside, as everybody may know it.

    In a hand it is the instant of the running clock's flag, which is public
    and the same whether or not a claim is possible (XM-76); `pause_until_ms`
    stands beside it in the view.
    """
    if match.phase == "playing" and match.on_clock is not None:
        return match.clock_from_ms + match.clocks[match.on_clock] + 1
    due = due_at(match)
    return None if due is None else due.at_ms


def line(after: Match, stamped: Stamped, viewer: Viewer, *, seq: int) -> Line | None:
    """What the viewer learns from an event, given the match AFTER it; None: nothing at all."""
    event = stamped.event
    if isinstance(event, HandEvent):
        data = after.setup.rules.redact(after.hand, event, viewer)
        if data is None:
            return None
        return Line(seq, stamped.at_ms, event.KIND, stamped.actor, data, event.clock)
    data = _SHOWN[type(event)](after, event, viewer)
    clock = event.clock if isinstance(event, MatchEnded) else None
    return Line(seq, stamped.at_ms, event.KIND, stamped.actor, data, clock)


def _legal(match: Match, seat: Seat) -> tuple[Action, ...]:
    if match.phase != "playing":
        return ()
    return match.setup.rules.legal(match.hand, seat)


def _ending(event: MatchEnded) -> Ending:
    return Ending(event.reason, event.winner, event.seat, event.scores, event.secret)


def _created(_after: Match, event: MatchCreated, _viewer: Viewer) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "ruleset": event.ruleset,
        "rules_version": event.rules_version,
        "options": event.options,
        "control": event.control,
        "rated": event.rated,
        "players": event.players,
        "deal": event.deal,
        "flow": event.flow,
        "commitment": event.commitment,
    }
    if event.rematch_of is not None:
        shown |= {"rematch_of": event.rematch_of, "first_dealer": event.first_dealer}
    return shown


def _taken(_after: Match, event: SeatTaken, _viewer: Viewer) -> dict[str, Any]:
    return {"seat": event.seat, "player": event.player}


def _was_ready(_after: Match, event: SeatReady, _viewer: Viewer) -> dict[str, Any]:
    shown: dict[str, Any] = {"seat": event.seat, "hand": event.hand}
    if event.nonce is not None:
        shown["nonce"] = event.nonce
    return shown


def _dealt(after: Match, event: HandDealt, viewer: Viewer) -> dict[str, Any]:
    hand = after.setup.rules.dealt(after.hand, viewer)
    return {"hand": event.hand, "dealer": event.dealer, "deal": hand}


def _credited(_after: Match, event: ClockCredited, _viewer: Viewer) -> dict[str, Any]:
    return {
        "down_from_ms": event.down_from_ms,
        "down_until_ms": event.down_until_ms,
        "credit_ms": event.credit_ms,
    }


def _ended(_after: Match, event: MatchEnded, _viewer: Viewer) -> Ending:
    return _ending(event)


_SHOWN: dict[type, Callable[[Match, Any, Viewer], Any]] = {
    MatchCreated: _created,
    SeatTaken: _taken,
    SeatReady: _was_ready,
    HandDealt: _dealt,
    ClockCredited: _credited,
    MatchEnded: _ended,
}
