"""Which rule of a game stands behind a fault, by ruleset.

The match around the hands is the same for every game, the numbers of the rules
are not: a ruleset without a table here is verified all the same, its faults
just cite no rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_XQMJ_32_2P: Mapping[str, str] = {
    "absent_from_ms match.ended": "XM-87",
    "at_ms match.ended aborted": "XM-57",
    "at_ms match.ended flag": "XM-67",
    "at_ms match.ended score": "XM-58",
    "at_ms match.hand_dealt": "XM-59",
    "at_ms xqmj.hand_voided": "XM-34",
    "at_ms xqmj.tile_drawn": "XM-34",
    "clock match.ended": "XM-67",
    "clock xqmj.claim_passed": "XM-66",
    "clock xqmj.hand_voided": "XM-66",
    "clock xqmj.hand_won": "XM-66",
    "clock xqmj.tile_discarded": "XM-66",
    "clock xqmj.tile_drawn": "XM-65",
    "dealer match.hand_dealt": "XM-13",
    "hand match.hand_dealt": "XM-58",
    "how xqmj.hand_won": "XM-41",
    "kind match.ended": "XM-71",
    "kind match.hand_dealt": "XM-58",
    "kind xqmj.hand_voided": "XM-42",
    "kind xqmj.tile_drawn": "XM-20",
    "lines xqmj.hand_won": "XM-51",
    "owed match.ended aborted": "XM-57",
    "owed match.ended flag": "XM-67",
    "owed match.ended score": "XM-58",
    "owed match.hand_dealt": "XM-59",
    "owed xqmj.hand_voided": "XM-34",
    "owed xqmj.tile_drawn": "XM-34",
    "points xqmj.hand_won": "XM-50",
    "reason match.ended": "XM-69",
    "scores match.ended": "XM-50",
    "seat match.ended": "XM-69",
    "seat xqmj.hand_won": "XM-25",
    "tile xqmj.chow_made": "XM-27",
    "tile xqmj.pung_made": "XM-28",
    "tiles xqmj.hand_won": "XM-9",
    "winner match.ended": "XM-60",
}

_TABLES: Mapping[str, Mapping[str, str]] = MappingProxyType({"xqmj-32-2p": _XQMJ_32_2P})


def rule_for(ruleset: str, *words: str) -> str | None:
    """The rule behind a fault; `words` name it from the general to the particular.

    >>> rule_for("xqmj-32-2p", "at_ms", "match.ended", "flag")
    'XM-67'
    >>> rule_for("xqmj-32-2p", "at_ms", "xqmj.tile_drawn", "anything")
    'XM-34'
    """
    table = _TABLES.get(ruleset, {})
    for end in range(len(words), 0, -1):
        rule = table.get(" ".join(words[:end]))
        if rule is not None:
            return rule
    return None
