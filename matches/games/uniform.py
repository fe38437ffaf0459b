"""Uniform numbers out of given bytes: whatever is drawn by lot follows from a source.

The numbers are read from SHAKE-256 over the source, as two-byte big-endian
words. Who knows the source can draw them all again; who does not can foretell
none, since the source holds a secret.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator

_WORDS = 65536
_FIRST_READ = 64
"""Words of one turn of the sponge, nearly always enough for a set of up to 64 tiles."""


def words(source: bytes) -> Iterator[int]:
    """The words of a source, 0 to 65,535, without end."""
    shake = hashlib.shake_256(source)
    read, size = 0, _FIRST_READ
    while True:
        # A longer digest of the same source begins with the shorter one.
        yield from struct.unpack(f">{size}H", shake.digest(2 * size))[read:]
        read, size = size, 2 * size


def below(stop: int, source: Iterator[int]) -> int:
    """A uniform number from 0 to `stop` − 1: words that would favour small ones are skipped."""
    limit = _WORDS - _WORDS % stop
    word = next(source)
    while word >= limit:
        word = next(source)
    return word % stop
