"""What a verification found: every check with what it proved, and the first thing that is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

CHECKS: Mapping[str, str] = {
    "format": "the record is of a known format and version",
    "sequence": "events are numbered 1, 2, 3 and so on without a gap",
    "chain": "each hash follows from the event and from the hash before it",
    "head": "the head holds the number and the hash of the last event",
    "commitment": "the revealed secret is the one that was committed to",
    "nonces": "each seat's part in the deal is its own, or derived from the secret",
    "deals": "dealers follow from the rules, and walls from secret, nonces and hand number",
    "commands": "each command was legal, and caused exactly the events that stand in the log",
    "table": "the table acted when something was due, at that instant, and only then",
    "clocks": "each charge, increment and credit is what the instants of the events give",
    "scores": "the lines and points of each hand are those of its tiles",
    "result": "the match has one end, and its result follows from its events",
}
"""Every check by name, with what it proves."""

CODES: Mapping[str, str] = {
    "bad_format": "The record is not of the format, or holds something that no log can hold.",
    "too_large": "The record is larger than any match.",
    "not_dense": "An event is missing, doubled or out of place: its number is not the next one.",
    "hash_mismatch": "The event or one before it was changed after it had been written.",
    "tail_missing": "The head counts more events than there are.",
    "head_count": "The head counts fewer events than there are.",
    "head_hash": "The head does not hold the hash of the last event.",
    "head_facts": "The head says something else than the events do.",
    "seat_facts": "The table of seats says something else than the events do.",
    "unknown_event": "The kind, version or body of the event is not known to these rules.",
    "bad_beginning": "The match cannot have been created like this.",
    "secret_mismatch": "The revealed secret is not the one that was committed to.",
    "secret_sealed": "The secret cannot be unsealed: its key is missing, or the seal was changed.",
    "illegal_command": "The command behind the event was not possible.",
    "no_command": "No command of that seat can cause the event.",
    "something_owed": "The table owed something before the event.",
    "nothing_owed": "The table acted although nothing was due.",
    "wrong_event": "Another event follows from the command and the state.",
    "wrong_instant": "The event carries another instant than the one at which it was due.",
    "wrong_actor": "The event names another seat than the one that caused it.",
    "wrong_dealer": "The hand was dealt by another seat than the rules say.",
    "wrong_clock": "The charged or remaining time is not what the instants give.",
    "wrong_score": "The tiles, lines or points are not those of the hand.",
    "wrong_result": "Reason, winner or final scores do not follow from the match.",
    "wrong_body": "The event says something else than what follows from the state.",
    "wrong_effects": "The command caused another number of events than it claims.",
    "missing_effect": "The log ends before all that the command or the table caused.",
    "stray_command": "A command stands at an event that no command begins.",
    "repeated_command": "The same command stands in the log twice.",
    "wrong_credit": "The time given back is not what the downtime took.",
    "missing_credit": "Downtime was charged to a seat and not given back.",
    "after_the_end": "The match had already ended.",
    "no_end": "The match has no end.",
}
"""Every code with one line of meaning; a code's meaning never changes."""

State = Literal["proven", "wrong", "open"]


class Check(msgspec.Struct, frozen=True):
    """One check: `proven` (of `count` things), `wrong`, or `open` because it was not reached."""

    name: str
    state: State
    count: int


class Fault(msgspec.Struct, frozen=True):
    """Something that cannot be true.

    `seq` is the event it shows at (a missing event by the number it should
    have), None where it is no event at all. `rule` is the number of the rule
    of the game behind it, None where no rule of the game is.
    """

    check: str
    code: str
    seq: int | None
    message: str
    rule: str | None = None


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a verification.

    `events` is how many events were proven from the first on. `faults` are all
    that were found, the first wrong event first; `first_wrong`, `code` and
    `message` are those of the first. `counts` counts the proven events by kind.
    """

    ok: bool
    match_id: str | None
    events: int
    first_wrong: int | None
    code: str | None
    message: str
    checks: tuple[Check, ...]
    faults: tuple[Fault, ...]
    counts: dict[str, int]


class Wrong(Exception):
    """Ends a check: carries the fault that it found."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def wrong(check: str, code: str, seq: int | None, message: str, rule: str | None = None) -> Wrong:
    """The exception for a fault."""
    return Wrong(Fault(check, code, seq, message, rule))
