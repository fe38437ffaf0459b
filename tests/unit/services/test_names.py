"""Names that may be chosen."""

from __future__ import annotations

import pytest

from matches.services import names
from matches.services.errors import ServiceError


def refusal(name: str) -> str:
    with pytest.raises(ServiceError) as refused:
        names.chosen(name)
    return refused.value.code


class TestName:
    @pytest.mark.parametrize(
        "name", ["Ana", "ben_7", "0x1", "a--", "車馬炮", "Ærø-99", "ﺎﺒﺠ", "x" * 24]
    )
    def test_may_be_letters_digits_lines_and_dashes(self, name: str) -> None:
        assert names.chosen(name)

    def test_is_kept_in_its_composed_form(self) -> None:
        assert names.chosen("Ａｎａ①") == "Ana1"

    @pytest.mark.parametrize(
        "name",
        [
            "",
            "ab",
            "x" * 25,
            "x" * 100_000,
            "_ana",
            "-ana",
            "a b c",
            "ana!",
            "ana\n",
            "ana\0",
            "ana\u200b",
            "\u202eana",
            "ana\ud800",
            "e\u0301\u0301\u0301",
            "ana😀",
            "ﷺ",
        ],
    )
    def test_may_be_nothing_else(self, name: str) -> None:
        assert refusal(name) == "bad_username"

    @pytest.mark.parametrize("name", ["admin", "ROOT", "Ｘｑｍｊ", "guest-12", "Bot-3", "null"])
    def test_may_not_be_the_servers_own(self, name: str) -> None:
        assert refusal(name) == "username_reserved"

    def test_of_a_guest_is_not_one_that_can_be_chosen(self) -> None:
        assert refusal(names.for_guest()[:24]) == "username_reserved"
        assert names.for_guest() != names.for_guest()
