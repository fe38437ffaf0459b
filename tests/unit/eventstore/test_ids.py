"""Ids of matches."""

from __future__ import annotations

import time
from uuid import RFC_4122

from matches.eventstore.ids import new_match_id, uuid7


class TestUuid7:
    def test_lays_out_the_example_of_the_standard(self) -> None:
        # RFC 9562, appendix A.6: rand_a is 0xCC3, rand_b is 0x18C4DC0C0C07398F.
        randomness = bytes.fromhex("0cc318c4dc0c0c07398f")

        assert str(uuid7(0x017F22E279B0, randomness)) == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"

    def test_overwrites_version_and_variant_only(self) -> None:
        assert str(uuid7(2**48 - 1, b"\xff" * 10)) == "ffffffff-ffff-7fff-bfff-ffffffffffff"
        assert str(uuid7(0, bytes(10))) == "00000000-0000-7000-8000-000000000000"


class TestNewMatchId:
    def test_is_of_version_7_and_of_now(self) -> None:
        before_ms = time.time_ns() // 1_000_000

        made = new_match_id()

        assert (made.version, made.variant) == (7, RFC_4122)
        assert before_ms <= made.int >> 80 <= time.time_ns() // 1_000_000

    def test_is_never_the_same(self) -> None:
        assert len({new_match_id() for _ in range(1_000)}) == 1_000
