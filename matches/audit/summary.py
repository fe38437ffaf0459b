"""The report of a verification, made of what was proven and what was found wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from matches.audit.replay import Replayed
from matches.audit.report import CHECKS, Check, Fault, Report, State
from matches.domain.events import ClockCredited, HandDealt, SeatReady, Stamped

_OF_THE_RECORD = ("format", "sequence", "chain", "head")
"""Checks that need no event to be understood, and so are always made to their end."""


def report(
    match_id: UUID | None,
    faults: Sequence[Fault],
    replayed: Replayed,
    stampeds: Sequence[Stamped],
) -> Report:
    """The report; `faults` come in the order of events, `stampeds` are those that were read."""
    proven = stampeds[: replayed.proven]
    first = faults[0] if faults else None
    return Report(
        ok=first is None,
        match_id=None if match_id is None else str(match_id),
        events=len(proven),
        first_wrong=None if first is None else first.seq,
        code=None if first is None else first.code,
        message=_message(first, len(proven), live=_is_live(replayed)),
        checks=_checks(faults, _counted(replayed, proven, stampeds), live=_is_live(replayed)),
        faults=tuple(faults),
        counts=dict(sorted(Counter(stamped.event.KIND for stamped in proven).items())),
    )


def _is_live(replayed: Replayed) -> bool:
    return replayed.match is not None and replayed.match.ended is None


def _message(first: Fault | None, proven: int, *, live: bool) -> str:
    if first is None:
        return f"all {proven} events are proven" + (", the match goes on" if live else "")
    where = "the record" if first.seq is None else f"event {first.seq}"
    rule = "" if first.rule is None else f" ({first.rule})"
    return f"{where}: {first.message}{rule}"


def _counted(
    replayed: Replayed, proven: Sequence[Stamped], stampeds: Sequence[Stamped]
) -> dict[str, int]:
    """How many things each check has proven."""
    events = [stamped.event for stamped in proven]
    match = replayed.match
    clocks = sum(getattr(event, "clock", None) is not None for event in events)
    return {
        "format": 1,
        "sequence": len(stampeds),
        "chain": len(stampeds),
        "head": 1,
        "commitment": int(bool(proven)),
        "nonces": sum(isinstance(event, SeatReady) and event.hand == 1 for event in events),
        "deals": sum(isinstance(event, HandDealt) for event in events),
        "commands": replayed.commands,
        "table": sum(stamped.actor is None for stamped in proven[1:]),
        "clocks": clocks + sum(isinstance(event, ClockCredited) for event in events),
        "scores": 0 if match is None else len(match.outcomes),
        "result": int(match is not None and match.ended is not None),
    }


def _checks(faults: Sequence[Fault], counts: dict[str, int], *, live: bool) -> tuple[Check, ...]:
    wrong = {fault.check for fault in faults}
    unread = "format" in wrong
    checks: list[Check] = []
    for name in CHECKS:
        state: State = "proven"
        if name in wrong:
            state = "wrong"
        elif unread or (faults and name not in _OF_THE_RECORD) or (live and name == "result"):
            state = "open"
        checks.append(Check(name, state, counts[name]))
    return tuple(checks)
