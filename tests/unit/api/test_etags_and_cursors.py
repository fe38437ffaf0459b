from __future__ import annotations

from uuid import UUID

import pytest
from django.test import RequestFactory

from matches.api.cursors import cursor_of, read_cursor
from matches.api.etags import etag_of, matches
from matches.services.problems import Problem

ID = UUID("0190b3f2-7a3c-7def-8abc-1234567890ab")


class TestEtag:
    def test_follows_from_the_bytes(self) -> None:
        assert etag_of(b"") == 'W/"47DEQpj8HBSa-_TImW-5JA"'
        assert etag_of(b"a") != etag_of(b"b")

    @pytest.mark.parametrize("stated", ['"x"', 'W/"x"', '"a", "x"', '"a" , W/"x"', "*"])
    def test_is_found_in_if_none_match(self, stated: str) -> None:
        request = RequestFactory().get("/", headers={"if-none-match": stated})

        assert matches(request, '"x"')
        assert matches(request, 'W/"x"')

    @pytest.mark.parametrize("stated", ["", '"y"', "x", '"x', "W/x", '"X"', "**"])
    def test_is_not_found_in(self, stated: str) -> None:
        request = RequestFactory().get("/", headers={"if-none-match": stated})

        assert not matches(request, '"x"')
        assert not matches(request, 'W/"x"')


class TestCursor:
    def test_comes_back_as_it_was(self) -> None:
        assert read_cursor(cursor_of(1_700_000_000_000, ID)) == (1_700_000_000_000, ID)

    def test_is_the_beginning_where_there_is_none(self) -> None:
        assert read_cursor(None) is None

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "-",
            "1",
            f"1-{ID}",
            f"-1-{ID.hex}",
            f"1-{ID.hex}\n",
            f"{'9' * 16}-{ID.hex}",
            f"١-{ID.hex}",
        ],
    )
    def test_refuses_what_it_did_not_write(self, text: str) -> None:
        with pytest.raises(Problem) as caught:
            read_cursor(text)

        assert caught.value.code == "invalid_parameter"
