"""The computer as a player: one a level, the same in every installation."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_IDS: Mapping[int, str] = MappingProxyType(
    {level: f"78716d6a00008000800000000000000{level}" for level in range(1, 9)}
)
_LEVELS: Mapping[str, int] = MappingProxyType(
    {public_id: level for level, public_id in _IDS.items()}
)

IDS: tuple[str, ...] = tuple(_IDS.values())
"""The public ids (hex) of all levels, from 1 to 8; a migration made the players."""


def id_of(level: int) -> str:
    """The public id of the computer at a level; raises KeyError for a level that there is not."""
    return _IDS[level]


def level_of(public_id: str | None) -> int | None:
    """The level of the computer that has this public id; None for everybody else."""
    return None if public_id is None else _LEVELS.get(public_id)
