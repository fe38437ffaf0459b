"""`Second` is written from docs/deal.md alone; it and the server meet the vectors of that page."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from matches.domain import deal
from matches.games.protocol import Seat
from matches.games.registry import rules_for

PAGE = Path(__file__).parents[3] / "docs" / "deal.md"

SET = [
    colour + piece
    for colour in "rb"
    for piece, copies in {"K": 1, "A": 2, "E": 2, "R": 2, "H": 2, "C": 2, "P": 5}.items()
    for _ in range(copies)
]


class Vector(msgspec.Struct, frozen=True):
    secret: str
    commitment: str
    match_id: str
    sent: list[str | None]
    nonces: list[str]
    first_dealer: int
    orders: list[str]


def _vectors() -> list[Vector]:
    (block,) = re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return msgspec.convert(json.loads(block), list[Vector])


VECTORS = _vectors()


class Second:
    """A second implementation of the page."""

    def __init__(self, secret: bytes, match_id: bytes, sent: list[bytes | None]) -> None:
        self.secret, self.match_id = secret, match_id
        self.nonces = [
            self._derived(seat) if nonce is None else nonce for seat, nonce in enumerate(sent)
        ]

    def _derived(self, seat: int) -> bytes:
        text = b"xqmj nonce@1" + b"\x00" + self.secret + self.match_id + seat.to_bytes(1, "big")
        return hashlib.sha256(text).digest()[0:16]

    def _draw(self, n: int) -> Iterator[int]:
        source = bytearray(b"xqmj deal@1")
        source.append(0)
        source += self.secret + self.match_id
        for nonce in self.nonces:
            source.append(len(nonce))
            source += nonce
        source += bytes([n >> 24, n >> 16 & 255, n >> 8 & 255, n & 255])
        # Much more than any draw reads.
        output = hashlib.shake_256(bytes(source)).digest(4_000)
        for place in range(0, len(output), 2):
            yield 256 * output[place] + output[place + 1]

    @staticmethod
    def _below(k: int, words: Iterator[int]) -> int:
        return next(w % k for w in words if w < k * (65_536 // k))

    def first_dealer(self) -> int:
        return self._below(2, self._draw(0))

    def order(self, n: int, tiles: Sequence[str] = SET) -> list[str]:
        words, tiles = self._draw(n), list(tiles)
        for i in reversed(range(1, len(tiles))):
            j = self._below(i + 1, words)
            tiles[i], tiles[j] = tiles[j], tiles[i]
        return tiles


@pytest.mark.parametrize("vector", VECTORS, ids=["derived", "sent", "mixed"])
class TestVectors:
    def test_hold_for_an_implementation_of_the_page(self, vector: Vector) -> None:
        sent = [None if nonce is None else bytes.fromhex(nonce) for nonce in vector.sent]
        second = Second(bytes.fromhex(vector.secret), bytes.fromhex(vector.match_id), sent)

        assert [nonce.hex() for nonce in second.nonces] == vector.nonces
        assert second.first_dealer() == vector.first_dealer
        assert [" ".join(second.order(n)) for n in range(1, 7)] == vector.orders

    def test_hold_for_the_server(self, vector: Vector) -> None:
        secret, match_id = bytes.fromhex(vector.secret), bytes.fromhex(vector.match_id)
        nonces = tuple(bytes.fromhex(nonce) for nonce in vector.nonces)
        deck = rules_for("xqmj-32-2p").deck

        assert deal.commitment(secret) == vector.commitment
        assert [
            deal.nonce_for(secret, match_id, Seat(seat)).hex() if sent is None else sent
            for seat, sent in enumerate(vector.sent)
        ] == vector.nonces
        assert deal.first_dealer(secret, match_id, nonces, 2) == vector.first_dealer
        assert [
            " ".join(deal.order(secret, match_id, nonces, n, deck)) for n in range(1, 7)
        ] == vector.orders


class TestOrder:
    NONCES = (b"12345678", b"abcdefgh")

    def _order(self, n: int, **changes: object) -> tuple[str, ...]:
        given: dict[str, object] = {
            "secret": bytes(32),
            "match_id": bytes(16),
            "nonces": self.NONCES,
            "deck": tuple(SET),
        }
        return deal.order(hand_no=n, **(given | changes))  # type: ignore[arg-type]

    def test_holds_every_tile_of_the_set(self) -> None:
        """XM-14."""
        for n in range(1, 200):
            assert sorted(self._order(n)) == sorted(SET)

    @pytest.mark.parametrize(
        "changes",
        [
            {"secret": bytes(31) + b"\x01"},
            {"match_id": bytes(15) + b"\x01"},
            {"nonces": (b"12345679", b"abcdefgh")},
            {"nonces": (b"12345678", b"abcdefgi")},
            {"nonces": (b"abcdefgh", b"12345678")},
            {"nonces": (b"12345678a", b"bcdefgh")},
        ],
    )
    def test_depends_on_every_part(self, changes: dict[str, object]) -> None:
        """Also on where one nonce ends and the next begins."""
        assert self._order(1, **changes) != self._order(1)

    def test_differs_from_hand_to_hand(self) -> None:
        assert len({self._order(n) for n in range(1, 7)}) == 6

    def test_of_a_large_set_reads_on(self) -> None:
        """More words than one reading gives: a longer output begins with the shorter one."""
        deck = tuple(str(number) for number in range(300))

        second = Second(bytes(32), bytes(16), list(self.NONCES))

        assert self._order(1, deck=deck) == tuple(second.order(1, deck))

    def test_is_uniform(self) -> None:
        """XM-14: each of 32 tiles in each of 32 places, in 6,400 orders; 200 expected a cell.

        Chi-square with 31 * 31 = 961 degrees of freedom: 961 expected, standard
        deviation 43.8; the bound is four of them up. The draws are fixed.
        """
        deck = tuple(str(number) for number in range(32))
        counts: Counter[tuple[int, str]] = Counter()
        for n in range(1, 6_401):
            counts.update(enumerate(self._order(n, deck=deck)))

        chi_square = sum((counts[place, tile] - 200) ** 2 for place in range(32) for tile in deck)

        assert chi_square / 200 < 961 + 4 * 43.8

    def test_leaves_neighbours_independent(self) -> None:
        """Which tile lies first and which second: 992 ordered pairs, 10 expected of each.

        Chi-square with 991 degrees of freedom, standard deviation 44.5.
        """
        deck = tuple(str(number) for number in range(32))
        pairs: Counter[tuple[str, ...]] = Counter()
        for n in range(1, 9_921):
            pairs[self._order(n, deck=deck, match_id=b"x" * 16)[:2]] += 1

        chi_square = sum((pairs[a, b] - 10) ** 2 for a in deck for b in deck if a != b) / 10

        assert chi_square < 991 + 4 * 44.5


class TestFirstDealer:
    def test_is_either_seat_with_the_same_chance(self) -> None:
        """XM-12: 10,000 draws, standard deviation 50."""
        dealers = Counter(
            deal.first_dealer(n.to_bytes(32, "big"), bytes(16), (b"", b""), 2)
            for n in range(10_000)
        )

        assert set(dealers) == {0, 1}
        assert abs(dealers[Seat(0)] - 5_000) < 200


class TestNonce:
    def test_differs_by_seat_match_and_secret(self) -> None:
        nonces = {
            deal.nonce_for(secret, match_id, seat)
            for secret in (bytes(32), b"\x01" * 32)
            for match_id in (bytes(16), b"\x01" * 16)
            for seat in (Seat(0), Seat(1))
        }

        assert len(nonces) == 8
        assert {len(nonce) for nonce in nonces} == {16}
