"""Pools: who is compared with whom. One pool is one ruleset at one class of speed.

| control | speed  | why                                                             |
|---------|--------|-----------------------------------------------------------------|
| 1+1     | bullet | a whole match on about two minutes a seat: reflexes              |
| 3+2     | blitz  | about five minutes a seat: the ordinary match                    |
| 5+5     | rapid  | five seconds come back with every discard: time to count tiles   |

10+5 is not rated (XM-73) and belongs to no class. The classes are a table and not a formula of
minutes and seconds: a pool keeps its meaning for ever, and a new control is put in by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

SPEEDS: Mapping[str, str] = MappingProxyType({"1+1": "bullet", "3+2": "blitz", "5+5": "rapid"})
"""Class of speed by control, slowest last (XM-62, XM-72)."""


class UnknownControl(ValueError):
    """The control belongs to no class of speed, so nothing played with it can be rated."""


class UnknownPool(ValueError):
    """The text is not the key of a pool."""


class Pool(msgspec.Struct, frozen=True, order=True):
    """One ruleset at one class of speed."""

    ruleset: str
    speed: str

    @property
    def key(self) -> str:
        """The pool's one name in the log, the API and addresses: `xqmj-32-2p-blitz`."""
        return f"{self.ruleset}-{self.speed}"


def pool_of(*, ruleset: str, control: str) -> Pool:
    """Return the pool that a rated match of this ruleset and control counts in.

    Raises UnknownControl.

    >>> pool_of(ruleset="xqmj-32-2p", control="3+2").key
    'xqmj-32-2p-blitz'
    """
    try:
        return Pool(ruleset, SPEEDS[control])
    except KeyError:
        raise UnknownControl(control) from None


def parse(key: str) -> Pool:
    """Return the pool that is called `key`, whether or not its ruleset exists.

    Raises UnknownPool.
    """
    ruleset, _, speed = key.rpartition("-")
    if not ruleset or speed not in SPEEDS.values():
        raise UnknownPool(key)
    return Pool(ruleset, speed)


def pools_of(ruleset: str, controls: frozenset[str]) -> tuple[Pool, ...]:
    """Return the pools of a ruleset that may be rated with these controls, fastest first."""
    speeds = dict.fromkeys(speed for control, speed in SPEEDS.items() if control in controls)
    return tuple(Pool(ruleset, speed) for speed in speeds)


def controls_of(speed: str) -> tuple[str, ...]:
    """Return the controls of a class of speed."""
    return tuple(control for control, its in SPEEDS.items() if its == speed)
