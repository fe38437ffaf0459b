"""What the table itself owes: draws, voids, deals, flags, and every end of a match."""

from __future__ import annotations

import msgspec

from matches.domain import deal
from matches.domain.clock import INTERMISSION_MS, OPEN_MS, READY_MS, Due, Gap
from matches.domain.events import (
    ClockCredited,
    EndReason,
    Event,
    HandDealt,
    MatchEnded,
    Stamped,
)
from matches.domain.evolve import evolve
from matches.domain.state import Match, Moved
from matches.games.protocol import CorruptHistory, HandEvent, Seat


def due_at(match: Match) -> Due | None:
    """When the table next has something to do, never before `match.at_ms`; None: nothing timed."""
    if match.phase == "playing":
        return _due_in_hand(match)
    if match.phase == "ended":
        return None
    if match.phase == "open":
        return Due(match.since_ms + OPEN_MS + 1, deadline=True)
    if all(match.ready) or (match.phase == "intermission" and _next_dealer(match) is None):
        return Due(match.at_ms, deadline=False)
    if match.phase == "readying":
        return Due(match.since_ms + READY_MS + 1, deadline=True, seat=_only_unready(match))
    return Due(max(match.since_ms + INTERMISSION_MS, match.at_ms), deadline=False)


def settle(match: Match, *, now_ms: int, deadline_ms: int, gaps: tuple[Gap, ...] = ()) -> Moved:
    """Everything the table owes by now, each event at the instant it was due.

    Scheduled acts are settled up to `now_ms`, deadlines up to `deadline_ms`
    (the caller allows for grace there). `gaps` are the times, in order, in
    which the service was down: no deadline runs in them, and a clock that ran
    gets them back. A gap is only known once it is over, so one that holds
    `now_ms` means a command that was received in it and is handled after it:
    the match is then taken to the gap's end.
    """
    settled: list[Stamped] = []
    for gap in gaps:
        if gap.until_ms <= match.credited_ms or gap.from_ms >= now_ms:
            continue
        match = _run(match, settled, now_ms=gap.until_ms, deadline_ms=min(gap.from_ms, deadline_ms))
        credit = _credit(match, gap)
        if credit is not None:
            settled.append(credit)
            match = evolve(match, credit)
    match = _run(match, settled, now_ms=now_ms, deadline_ms=deadline_ms)
    return Moved(match, tuple(settled))


def end(
    match: Match,
    *,
    at_ms: int,
    actor: Seat | None,
    reason: EndReason,
    seat: Seat | None = None,
    absent_from_ms: int | None = None,
) -> Stamped:
    """The one door through which a match ends, whatever the reason.

    `seat` is the seat that caused it; with a flag, a resignation, a forfeit or
    an absence the other seat wins whatever the score (XM-69, XM-87). By score the higher total
    wins, equal totals are a draw (XM-60).
    """
    winner: Seat | None = None
    if reason == "score":
        best = max(match.scores)
        if match.scores.count(best) == 1:
            winner = Seat(match.scores.index(best))
    elif reason != "aborted" and seat is not None:
        winner = Seat(1 - seat)
    event = MatchEnded(
        reason=reason,
        winner=winner,
        seat=seat,
        scores=match.scores,
        secret=match.setup.secret.hex(),
        clock=None if match.on_clock is None else charge(match, at_ms=at_ms, increment=False),
        absent_from_ms=absent_from_ms,
    )
    return Stamped(event, at_ms, actor)


def charge(match: Match, *, at_ms: int, increment: bool) -> tuple[int, int]:
    """What the running clock spent by the instant, and has left, in ms (XM-35 to XM-37, XM-66)."""
    if match.on_clock is None:
        raise CorruptHistory("no clock is running")
    left_ms = match.clocks[match.on_clock]
    spent_ms = min(max(0, at_ms - match.clock_from_ms), left_ms)
    return spent_ms, left_ms - spent_ms + (match.setup.control.increment_ms if increment else 0)


def stamp(match: Match, event: HandEvent, *, at_ms: int, actor: Seat | None) -> Stamped:
    """The hand's event as it goes into the log: charged where it ends a running turn."""
    if match.on_clock is not None:
        rules = match.setup.rules
        clock = rules.clock(rules.evolve(match.hand, event))
        if clock != match.on_clock or type(event) in rules.pausing:
            increment = type(event) in rules.crediting
            charged = charge(match, at_ms=at_ms, increment=increment)
            event = msgspec.structs.replace(event, clock=charged)
    return Stamped(event, at_ms, actor)


def _due_in_hand(match: Match) -> Due | None:
    timing = match.setup.rules.timing(match.hand)
    if timing.table:
        return Due(max(match.pause_until_ms, match.at_ms), deadline=False)
    if match.on_clock is None:
        return None
    flag_ms = match.clock_from_ms + match.clocks[match.on_clock] + 1
    return Due(flag_ms, deadline=True, seat=match.on_clock)


def _only_unready(match: Match) -> Seat | None:
    return Seat(match.ready.index(False)) if match.ready.count(False) == 1 else None


def _next_dealer(match: Match) -> Seat | None:
    rules, setup = match.setup.rules, match.setup
    if match.dealer is None:
        if setup.created.first_dealer is not None:
            return setup.created.first_dealer
        drawn = deal.first_dealer(setup.secret, setup.match_id, match.nonces, rules.seats)
        return rules.first_dealer(drawn)
    return rules.next_hand(match.hand_no, match.dealer, match.outcomes[-1]).dealer


def _run(match: Match, settled: list[Stamped], *, now_ms: int, deadline_ms: int) -> Match:
    while True:
        due = due_at(match)
        if due is None or due.at_ms > (deadline_ms if due.deadline else now_ms):
            return match
        for stamped in _owed(match, due.at_ms):
            settled.append(stamped)
            match = evolve(match, stamped)


def _owed(match: Match, at_ms: int) -> tuple[Stamped, ...]:
    if match.phase == "playing":
        return _owed_in_hand(match, at_ms)
    if match.phase == "open" or (match.phase == "readying" and not all(match.ready)):
        return (end(match, at_ms=at_ms, actor=None, reason="aborted"),)
    dealer = _next_dealer(match)
    if dealer is None:
        return (end(match, at_ms=at_ms, actor=None, reason="score"),)
    event: Event = HandDealt(hand=match.hand_no + 1, dealer=dealer)
    return (Stamped(event, at_ms, None),)


def _owed_in_hand(match: Match, at_ms: int) -> tuple[Stamped, ...]:
    rules = match.setup.rules
    if not rules.timing(match.hand).table:
        return (end(match, at_ms=at_ms, actor=None, reason="flag", seat=match.on_clock),)
    stampeds: list[Stamped] = []
    for event in rules.table(match.hand):
        stampeds.append(stamp(match, event, at_ms=at_ms, actor=None))
        match = evolve(match, stampeds[-1])
    return tuple(stampeds)


def _credit(match: Match, gap: Gap) -> Stamped | None:
    """The gap given back to whoever's clock or deadline ran in it, unless it had run out before."""
    due = due_at(match)
    if due is None or not due.deadline or due.at_ms <= gap.from_ms:
        return None
    running_from_ms = match.clock_from_ms if match.phase == "playing" else match.since_ms
    credit_ms = gap.until_ms - max(gap.from_ms, running_from_ms)
    if credit_ms <= 0:
        return None
    event = ClockCredited(down_from_ms=gap.from_ms, down_until_ms=gap.until_ms, credit_ms=credit_ms)
    return Stamped(event, max(gap.until_ms, match.at_ms), None)
