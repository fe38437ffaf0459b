"""Folding: the state after an event. It refuses nothing that a valid log can hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import msgspec

from matches.domain import deal
from matches.domain.clock import CONTROLS, FLOW
from matches.domain.events import (
    ClockCredited,
    HandDealt,
    MatchCreated,
    MatchEnded,
    SeatReady,
    SeatTaken,
    Stamped,
)
from matches.domain.state import Match, Phase, Setup, placed
from matches.games.protocol import CorruptHistory, HandEvent, Rejected
from matches.games.registry import rules_for


def begin(*, match_id: bytes, created: Stamped, secret: bytes) -> Match:
    """The match after its first event.

    `secret` is the unsealed secret of the deal; raises `CorruptHistory` if it
    does not fit the published commitment, or if this code does not know the
    rules, options, control or versions that the event names.
    """
    event = created.event
    if not isinstance(event, MatchCreated):
        raise CorruptHistory("a match begins with match.created")
    if (event.deal, event.flow) != (deal.NAME, FLOW):
        raise CorruptHistory(f"{event.deal} and {event.flow} are not known here")
    if deal.commitment(secret) != event.commitment:
        raise CorruptHistory("the secret does not fit the commitment")
    control = CONTROLS.get(event.control)
    if control is None:
        raise CorruptHistory(f"the control {event.control} is not known here")
    try:
        rules = rules_for(event.ruleset, version=event.rules_version, options=event.options)
    except Rejected as refusal:
        raise CorruptHistory(f"{refusal.code}: {event.ruleset} {event.rules_version}") from refusal
    return Match(
        setup=Setup(match_id, rules, control, event, secret),
        version=1,
        at_ms=created.at_ms,
        phase="readying" if None not in event.players else "open",
        since_ms=created.at_ms,
        players=event.players,
        nonces=(b"",) * rules.seats,
        ready=(False,) * rules.seats,
        hand_no=0,
        dealer=None,
        hand=None,
        on_clock=None,
        clock_from_ms=created.at_ms,
        pause_until_ms=created.at_ms,
        clocks=(control.base_ms,) * rules.seats,
        scores=(0,) * rules.seats,
        outcomes=(),
        credited_ms=0,
        ended=None,
    )


def evolve(match: Match, stamped: Stamped) -> Match:
    """The match after one more event of its stream."""
    event = stamped.event
    if isinstance(event, HandEvent):
        return _hand_event(match, event, stamped.at_ms)
    handler = _HANDLERS.get(type(event))
    if handler is None or match.ended is not None:
        raise CorruptHistory(f"{type(event).__name__} cannot follow version {match.version}")
    return handler(match, event, stamped.at_ms)


def fold(match: Match, stampeds: Iterable[Stamped]) -> Match:
    """The match after all the events, in order."""
    for stamped in stampeds:
        match = evolve(match, stamped)
    return match


def _with(match: Match, at_ms: int, **changes: Any) -> Match:
    return msgspec.structs.replace(match, version=match.version + 1, at_ms=at_ms, **changes)


def _hand_event(match: Match, event: HandEvent, at_ms: int) -> Match:
    # The hot path of every rebuild: one state is built by position, nothing is looked up twice.
    if match.phase != "playing":
        raise CorruptHistory(f"{event.KIND} outside a hand")
    rules, was_on_clock = match.setup.rules, match.on_clock
    hand = rules.evolve(match.hand, event)
    on_clock = rules.clock(hand)
    clocks = match.clocks
    if event.clock is not None:
        if was_on_clock is None:
            raise CorruptHistory(f"{event.KIND} charges a clock that stood still")
        clocks = placed(clocks, was_on_clock, event.clock[1])
    pause_until_ms, clock_from_ms = match.pause_until_ms, match.clock_from_ms
    if type(event) in rules.pausing:
        pause_until_ms = clock_from_ms = at_ms + rules.pause_ms
    elif on_clock != was_on_clock:
        clock_from_ms = max(at_ms, pause_until_ms)
    after = Match(
        match.setup,
        match.version + 1,
        at_ms,
        match.phase,
        match.since_ms,
        match.players,
        match.nonces,
        match.ready,
        match.hand_no,
        match.dealer,
        hand,
        on_clock,
        clock_from_ms,
        pause_until_ms,
        clocks,
        match.scores,
        match.outcomes,
        match.credited_ms,
        match.ended,
    )
    return after if on_clock is not None else _perhaps_over(after)


def _perhaps_over(match: Match) -> Match:
    """The match with its hand's outcome counted, where the hand has one (XM-50, XM-63)."""
    outcome = match.setup.rules.outcome(match.hand)
    if outcome is None:
        return match
    scores = zip(match.scores, outcome.points, strict=True)
    return msgspec.structs.replace(
        match,
        phase="intermission",
        since_ms=match.at_ms,
        ready=(False,) * len(match.ready),
        scores=tuple(score + points for score, points in scores),
        outcomes=(*match.outcomes, outcome),
    )


def _seat_taken(match: Match, event: SeatTaken, at_ms: int) -> Match:
    players = placed(match.players, event.seat, event.player)
    phase: Phase = "open" if None in players else "readying"
    return _with(match, at_ms, players=players, phase=phase, since_ms=at_ms)


def _seat_ready(match: Match, event: SeatReady, at_ms: int) -> Match:
    nonces = match.nonces
    if event.nonce is not None:
        nonces = placed(nonces, event.seat, bytes.fromhex(event.nonce))
    return _with(match, at_ms, nonces=nonces, ready=placed(match.ready, event.seat, True))


def _hand_dealt(match: Match, event: HandDealt, at_ms: int) -> Match:
    setup = match.setup
    order = deal.order(setup.secret, setup.match_id, match.nonces, event.hand, setup.rules.deck)
    hand = setup.rules.deal(order, event.dealer)
    return _with(
        match,
        at_ms,
        phase="playing",
        hand_no=event.hand,
        dealer=event.dealer,
        hand=hand,
        on_clock=setup.rules.clock(hand),
        clock_from_ms=at_ms,
        pause_until_ms=at_ms,
    )


def _clock_credited(match: Match, event: ClockCredited, at_ms: int) -> Match:
    moved = {"since_ms": match.since_ms + event.credit_ms}
    if match.phase == "playing":
        moved = {"clock_from_ms": match.clock_from_ms + event.credit_ms}
    return _with(match, at_ms, credited_ms=event.down_until_ms, **moved)


def _match_ended(match: Match, event: MatchEnded, at_ms: int) -> Match:
    clocks = match.clocks
    if event.clock is not None and match.on_clock is not None:
        clocks = placed(clocks, match.on_clock, event.clock[1])
    return _with(match, at_ms, phase="ended", on_clock=None, clocks=clocks, ended=event)


_HANDLERS = cast(
    "dict[type, Callable[[Match, Any, int], Match]]",
    {
        SeatTaken: _seat_taken,
        SeatReady: _seat_ready,
        HandDealt: _hand_dealt,
        ClockCredited: _clock_credited,
        MatchEnded: _match_ended,
    },
)
