"""Finds the rules of a game by name and version.

Rules objects are immutable, so one object serves every match and thread that
asks for the same ruleset, version and options.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import chain
from types import MappingProxyType
from typing import Any

from matches.games.protocol import Rejected, Rules
from matches.games.ruleset import Entry, Ruleset, Value
from matches.games.xqmj.refusals import REFUSALS as XQMJ_REFUSALS
from matches.games.xqmj.rulesets import ENTRIES as XQMJ_ENTRIES

REFUSALS: Mapping[str, str] = MappingProxyType(
    {
        "unknown_ruleset": "There is no such ruleset, or not in this version.",
        "unknown_option": "The ruleset has no such option.",
        "bad_option": "The option does not allow this value.",
    }
)
"""The refusals of this module: code and one line of meaning."""

_ENTRIES: Mapping[tuple[str, int], Entry] = MappingProxyType(
    {(entry.ruleset.key, entry.ruleset.version): entry for entry in chain(XQMJ_ENTRIES)}
)


def rulesets() -> tuple[Ruleset, ...]:
    """Every ruleset and version there is, old versions too, in the order of registration."""
    return tuple(entry.ruleset for entry in _ENTRIES.values())


def refusals() -> Mapping[str, str]:
    """Every refusal code of this module and of all games, with one line of meaning each."""
    return MappingProxyType({**REFUSALS, **XQMJ_REFUSALS})


def rules_for(key: str, version: int = 1, options: Mapping[str, Value] | None = None) -> Rules[Any]:
    """The rules of a ruleset; options that are not given take their defaults.

    Raises `Rejected` with `unknown_ruleset`, `unknown_option` or `bad_option`.
    """
    entry = _ENTRIES.get((key, version))
    if entry is None:
        raise Rejected("unknown_ruleset", ruleset=key, version=version)
    return _build(key, version, _filled(entry.ruleset, options or {}))


def later_options(key: str, version: int) -> frozenset[str]:
    """The options that the first matches of a ruleset that there is did not record."""
    return _ENTRIES[key, version].later


def _filled(ruleset: Ruleset, options: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    known = {option.key: option for option in ruleset.options}
    for key, value in options.items():
        if key not in known:
            raise Rejected("unknown_option", option=key)
        if not known[key].allows(value):
            raise Rejected("bad_option", option=key)
    return tuple((key, options.get(key, option.default)) for key, option in known.items())


@lru_cache(maxsize=64)
def _build(key: str, version: int, options: tuple[tuple[str, Value], ...]) -> Rules[Any]:
    return _ENTRIES[key, version].build(MappingProxyType(dict(options)))
