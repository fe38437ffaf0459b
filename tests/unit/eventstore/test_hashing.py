"""The hash chain, and the canonical JSON under it."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from matches.domain.events import Stamped
from matches.eventstore import codec, hashing
from matches.eventstore.ids import new_match_id
from matches.eventstore.rows import CommandKey, Row
from matches.games.xqmj.events import TileDrawn

MATCH_ID = new_match_id()

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def rows() -> tuple[Row, ...]:
    """Four rows, the third of a command."""
    return codec.new_rows(
        [Stamped(TileDrawn(), at_ms, None) for at_ms in (5, 6, 7, 8)],
        match_id=MATCH_ID,
        after=0,
        prev_hash=hashing.GENESIS,
        key=CommandKey(MATCH_ID, 1),
        caused_from=2,
    )


class TestCanonical:
    @given(plain)
    def test_is_what_python_writes_sorted_and_without_spaces(self, value: Any) -> None:
        expected = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

        assert hashing.canonical(value) == expected.encode()

    @pytest.mark.parametrize("value", [1.0, [1.5], {"a": [{"b": 2.0}]}, (float("nan"),)])
    def test_has_no_place_for_floats(self, value: Any) -> None:
        with pytest.raises(ValueError, match="canonical"):
            hashing.canonical(value)


class TestChain:
    def test_holds_as_written(self) -> None:
        assert hashing.first_break(hashing.GENESIS, MATCH_ID, rows()) is None

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("seq", 7),
            ("kind", "xqmj.claim_passed"),
            ("v", 2),
            ("payload", b"{ }"),
            ("actor", 0),
            ("at_ms", 99),
            ("command_id", new_match_id()),
            ("fingerprint", 2),
            ("effects", 1),
            ("hash", bytes(32)),
        ],
    )
    def test_breaks_where_any_column_was_changed(self, field: str, value: Any) -> None:
        first, second, third, fourth = rows()
        changed = msgspec.structs.replace(third, **{field: value})

        chain = (first, second, changed, fourth)

        assert hashing.first_break(hashing.GENESIS, MATCH_ID, chain) == 3

    def test_breaks_where_a_row_is_missing(self) -> None:
        first, _, third, fourth = rows()

        assert hashing.first_break(hashing.GENESIS, MATCH_ID, (first, third, fourth)) == 2

    def test_breaks_where_two_rows_changed_places(self) -> None:
        first, second, third, fourth = rows()

        assert hashing.first_break(hashing.GENESIS, MATCH_ID, (first, third, second, fourth)) == 2

    def test_is_of_one_match(self) -> None:
        assert hashing.first_break(hashing.GENESIS, new_match_id(), rows()) == 1

    def test_goes_on_from_any_row(self) -> None:
        first, *rest = rows()

        assert hashing.first_break(first.hash, MATCH_ID, rest) is None
