"""What a ruleset says about itself, for those who offer it to players."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from matches.games.names import Names
from matches.games.protocol import Rules

Value = str | int | bool
"""The value of an option."""


class Option(msgspec.Struct, frozen=True):
    """A choice that a match fixes when it is created: its allowed values and the usual one."""

    key: str
    values: tuple[Value, ...]
    default: Value
    names: Names

    def allows(self, value: object) -> bool:
        """Whether a value is one of the allowed ones, of the very same type (True is not 1)."""
        return any(type(value) is type(one) and value == one for one in self.values)


class Ruleset(msgspec.Struct, frozen=True, kw_only=True):
    """One version of one ruleset. `controls` are names such as `3+2`: minutes, then seconds."""

    key: str
    version: int
    names: Names
    seats: int
    controls: tuple[str, ...]
    rated_controls: tuple[str, ...]
    options: tuple[Option, ...]


class Entry(msgspec.Struct, frozen=True):
    """A ruleset and what makes its rules, given the value of each of its options.

    `later` are the options that it got when matches had been played already:
    those do not record them, and are played by their usual values.
    """

    ruleset: Ruleset
    build: Callable[[Mapping[str, Value]], Rules[Any]]
    later: frozenset[str] = frozenset()
