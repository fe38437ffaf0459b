from __future__ import annotations

import re

import pytest

from matches.services.errors import ServiceError
from matches.services.wire import ID_PATTERN, token_of


class TestTokenOf:
    @pytest.mark.parametrize(
        ("header", "token"),
        [("", None), ("Bearer 0a1b", "0a1b"), ("bearer 0a1b", "0a1b"), ("Bearer ", "")],
    )
    def test_reads(self, header: str, token: str | None) -> None:
        assert token_of(header) == token

    @pytest.mark.parametrize("header", ["Bearer", "bearer0a1b", "Basic 0a1b", "0a1b", " Bearer x"])
    def test_takes_no_other_scheme(self, header: str) -> None:
        with pytest.raises(ServiceError) as refused:
            token_of(header)

        assert refused.value.code == "bad_token"


class TestIdPattern:
    @pytest.mark.parametrize(
        ("text", "matches"),
        [
            ("0190a5a000007000800000000000000f", True),
            ("0190a5a0-0000-7000-8000-00000000000f", True),
            ("0190A5A000007000800000000000000F", False),
            ("0190a5a000007000800000000000000", False),
            ("0190a5a000007000800000000000000f0", False),
        ],
    )
    def test_is_lower_case_and_whole(self, text: str, matches: bool) -> None:
        assert bool(re.fullmatch(ID_PATTERN, text)) is matches
