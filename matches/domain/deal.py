"""The deal, `deal@1`: first dealer and walls follow from a committed secret and the seats' nonces.

The stream of draw number n is SHAKE-256 over a name, the secret, the match id,
each seat's nonce with its length before it, and n as four bytes; it is read as
two-byte big-endian words. Draw 0 gives the first dealer, draw n the order of
hand n. docs/deal.md describes it with test vectors for a second implementation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from matches.games.protocol import Seat
from matches.games.uniform import below, words

NAME = "deal@1"
SECRET_BYTES = 32
NONCE_BYTES = (8, 32)
"""Shortest and longest nonce that a seat may send."""


def commitment(secret: bytes) -> str:
    """The hex sha256 of the secret, published before the first action."""
    return hashlib.sha256(secret).hexdigest()


def nonce_for(secret: bytes, match_id: bytes, seat: Seat) -> bytes:
    """The nonce of a seat that sends none.

    It follows from the secret, so that a server that has published its
    commitment cannot choose it any more.
    """
    return hashlib.sha256(b"xqmj nonce@1\0" + secret + match_id + bytes([seat])).digest()[:16]


def _words(secret: bytes, match_id: bytes, nonces: tuple[bytes, ...], number: int) -> Iterator[int]:
    framed = b"".join([bytes([len(nonce)]) + nonce for nonce in nonces])
    return words(b"xqmj deal@1\0" + secret + match_id + framed + number.to_bytes(4, "big"))


def first_dealer(secret: bytes, match_id: bytes, nonces: tuple[bytes, ...], seats: int) -> Seat:
    """The seat drawn for the first deal, each with the same chance (XM-12)."""
    return Seat(below(seats, _words(secret, match_id, nonces, 0)))


def order(
    secret: bytes, match_id: bytes, nonces: tuple[bytes, ...], hand_no: int, deck: tuple[str, ...]
) -> tuple[str, ...]:
    """The order of all tiles of hand `hand_no` (from 1), uniformly random (XM-14).

    Fisher-Yates over the canonical deck, from the last place down.
    """
    source = _words(secret, match_id, nonces, hand_no)
    tiles = list(deck)
    for last in range(len(tiles) - 1, 0, -1):
        other = below(last + 1, source)
        tiles[last], tiles[other] = tiles[other], tiles[last]
    return tuple(tiles)
