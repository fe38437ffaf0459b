"""What differs between the event that follows and the event that stands in the log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from matches.audit.citations import rule_for
from matches.audit.report import Wrong, wrong
from matches.domain.events import MatchEnded, Stamped

_FIELDS: Mapping[str, tuple[str, str]] = {
    "clock": ("clocks", "wrong_clock"),
    "dealer": ("deals", "wrong_dealer"),
    "hand": ("deals", "wrong_body"),
    "how": ("scores", "wrong_score"),
    "lines": ("scores", "wrong_score"),
    "points": ("scores", "wrong_score"),
    "reason": ("result", "wrong_result"),
    "scores": ("result", "wrong_result"),
    "secret": ("commitment", "secret_mismatch"),
    "tiles": ("scores", "wrong_score"),
    "winner": ("result", "wrong_result"),
}
"""The check and the code of a wrong field; for any other it is the event's own check."""


def difference(*, ruleset: str, seq: int, check: str, expected: Stamped, found: Stamped) -> Wrong:
    """The fault between two events that are not equal; `check` is the event's own check."""
    kind = expected.event.KIND
    cite = _words(expected)
    if type(expected.event) is not type(found.event):
        text = f"{found.event.KIND} where only {kind} at {expected.at_ms} follows"
        return wrong(check, "wrong_event", seq, text, rule_for(ruleset, "kind", *cite))
    if expected.at_ms != found.at_ms:
        text = f"{kind} at {found.at_ms}, not at {expected.at_ms}"
        return wrong(check, "wrong_instant", seq, text, rule_for(ruleset, "at_ms", *cite))
    if expected.actor != found.actor:
        text = f"{kind} by seat {found.actor}, not {expected.actor}"
        return wrong(check, "wrong_actor", seq, text)
    field, right, told = _first_field(expected.event, found.event)
    check, code = _FIELDS.get(field, (check, "wrong_body"))
    text = f"{kind} has {field} {_shown(told)}, not {_shown(right)}"
    return wrong(check, code, seq, text, rule_for(ruleset, field, *cite))


def owed(*, ruleset: str, seq: int, expected: Stamped, found: Stamped) -> Wrong:
    """The fault of an event that stands where the table owed another one first."""
    text = f"{expected.event.KIND} was due at {expected.at_ms}, before {found.event.KIND}"
    rule = rule_for(ruleset, "owed", *_words(expected))
    return wrong("table", "something_owed", seq, text, rule)


def _words(stamped: Stamped) -> tuple[str, ...]:
    event = stamped.event
    return (event.KIND, event.reason) if isinstance(event, MatchEnded) else (event.KIND,)


def _first_field(expected: msgspec.Struct, found: msgspec.Struct) -> tuple[str, Any, Any]:
    for field in expected.__struct_fields__:
        right, told = getattr(expected, field), getattr(found, field)
        if right != told:
            return field, right, told
    raise AssertionError("the events are equal")


def _shown(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 120 else f"{text[:117]}..."
