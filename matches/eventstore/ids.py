"""Ids of matches: uuidv7, so that the log's keys grow at their right end."""

from __future__ import annotations

import os
import time
from uuid import UUID


def new_match_id() -> UUID:
    """A fresh id of version 7 (RFC 9562): the time in ms, then 74 random bits.

    The time in it only keeps ids near each other in the indexes; nothing is
    ordered or decided by it.
    """
    return uuid7(time.time_ns() // 1_000_000, os.urandom(10))


def uuid7(unix_ms: int, randomness: bytes) -> UUID:
    """Lay out a time and ten random bytes as a uuid of version 7.

    >>> uuid7(0x017F22E279B0, bytes.fromhex("0cc318c4dc0c0c07398f")).hex[:16]
    '017f22e279b07cc3'
    """
    value = unix_ms << 80 | int.from_bytes(randomness, "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    return UUID(int=value & ~(0x3 << 62) | 0x2 << 62)
