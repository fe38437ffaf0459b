from __future__ import annotations

from typing import Annotated

import msgspec
import pytest

from matches.services import parsing
from matches.services.problems import Problem
from tests.support.hostile import HOSTILE


def refused(raw: bytes) -> str:
    with pytest.raises(Problem) as caught:
        parsing.decode(raw)
    return caught.value.code


class TestDecode:
    def test_reads_ordinary_json(self) -> None:
        raw = b'{"a": [1, -2, 1.5, true, null, "\xe5\xb8\xa5", "\\u5e25"], "b": {}}'

        assert parsing.decode(raw) == {"a": [1, -2, 1.5, True, None, "帥", "帥"], "b": {}}

    def test_reads_a_whole_surrogate_pair(self) -> None:
        assert parsing.decode(b'["\\ud83c\\udc04"]') == ["🀄"]

    def test_reads_the_outermost_integers(self) -> None:
        raw = b"[9223372036854775807, -9223372036854775808]"

        assert parsing.decode(raw) == [2**63 - 1, -(2**63)]

    def test_reads_sixteen_levels(self) -> None:
        parsing.decode(b"[" * 16 + b"]" * 16)

    def test_refuses_the_seventeenth_level(self) -> None:
        assert refused(b"[" * 17 + b"]" * 17) == "json_too_deep"

    def test_counts_levels_and_not_brackets(self) -> None:
        raw = b"[" + b"[],{}," * 500 + b"0]"

        assert len(parsing.decode(raw)) == 1001

    def test_does_not_count_brackets_in_texts(self) -> None:
        raw = b'["' + b"[{" * 100 + b'", "\\"[[[[[[[[[[[[[[[[[[[["]'

        assert len(parsing.decode(raw)) == 2

    @pytest.mark.parametrize(
        ("raw", "code"),
        [
            (b"", "malformed_json"),
            (b'{"a": 1} x', "malformed_json"),
            (b'"\xff"', "malformed_json"),
            (b'\xef\xbb\xbf""', "malformed_json"),
            (b'{"a": 1, "a": 1}', "duplicate_key"),
            (b'[{"b": {"a": 1, "\\u0061": 2}}]', "duplicate_key"),
            (b"[NaN]", "bad_number"),
            (b"[-Infinity]", "bad_number"),
            (b"[1e400]", "bad_number"),
            (b"[9223372036854775808]", "bad_number"),
            (b"[" + b"9" * 5_000 + b"]", "bad_number"),
            (b'["\\u0000"]', "bad_text"),
            (b'{"\\u0000": 1}', "bad_text"),
            (b'["\\ud800"]', "bad_text"),
            (b'["\\udc00\\ud800"]', "bad_text"),
            (b'["a\0b"]', "malformed_json"),
        ],
    )
    def test_refuses(self, raw: bytes, code: str) -> None:
        assert refused(raw) == code

    @pytest.mark.parametrize(("raw", "code"), HOSTILE)
    def test_refuses_a_full_body_of_anything(self, raw: bytes, code: str) -> None:
        assert refused(raw) == code

    @pytest.mark.parametrize(
        "raw",
        [
            b'["' + b'\\"[' * 20_000,
            b'["' + b'\\"[' * 20_000 + b'"]',
            b'"' * 65_001,
            b'["a", "b\\\\", "[", "' + b"\\\\" * 30_000,
        ],
    )
    def test_reads_no_text_twice(self, raw: bytes) -> None:
        """A quote that begins no token was tried to the end, as each behind it would be."""
        assert b'"' not in parsing._TOKENS.sub(b"", raw)


class Shape(msgspec.Struct, forbid_unknown_fields=True):
    count: Annotated[int, msgspec.Meta(ge=0)]
    name: str = "x"


class TestDecodeAs:
    def test_takes_an_empty_body_for_an_empty_object(self) -> None:
        with pytest.raises(Problem) as caught:
            parsing.decode_as(Shape, b"")

        assert caught.value.code == "invalid_body"
        assert caught.value.detail == "Object missing required field `count`"

    def test_names_an_unknown_field(self) -> None:
        with pytest.raises(Problem) as caught:
            parsing.decode_as(Shape, b'{"count": 1, "is_staff": true}')

        assert caught.value.code == "unknown_field"
        assert caught.value.detail == "Object contains unknown field `is_staff`"

    @pytest.mark.parametrize("count", [b'"1"', b"1.5", b"true", b"null", b"-1", b"[1]"])
    def test_does_not_coerce(self, count: bytes) -> None:
        with pytest.raises(Problem) as caught:
            parsing.decode_as(Shape, b'{"count": ' + count + b"}")

        assert caught.value.code == "invalid_body"
