"""Names that may be chosen."""

from __future__ import annotations

import pytest

from matches.lookalikes import skeleton
from matches.services import names
from matches.services.errors import ServiceError


def refusal(name: str) -> str:
    with pytest.raises(ServiceError) as refused:
        names.chosen(name)
    return refused.value.code


class TestName:
    @pytest.mark.parametrize(
        "name", ["Ana", "ben_7", "0x1", "a--", "車馬炮", "Ærø-99", "さくら7", "x" * 24]
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
            "ﺎﺒﺠ",
            "раура",
            "misтy",
            "μίστυ",
            "misty炮",
            "さくら한",
            "ɑlphɑ",
            "٣٤٥",
        ],
    )
    def test_may_be_nothing_else(self, name: str) -> None:
        assert refusal(name) == "bad_username"

    @pytest.mark.parametrize(
        "name",
        ["admin", "ROOT", "Ｘｑｍｊ", "guest-12", "Bot-3", "null", "adm1n", "r00t", "Cl0sed-1"],
    )
    def test_may_not_be_the_servers_own(self, name: str) -> None:
        assert refusal(name) == "username_reserved"

    def test_of_a_guest_is_not_one_that_can_be_chosen(self) -> None:
        assert refusal(names.for_guest()[:24]) == "username_reserved"
        assert names.for_guest() != names.for_guest()


class TestLookalike:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("misty", "MISTY"),
            ("misty", "mlsty"),
            ("misty", "m1sty"),
            ("misty", "rnisty"),
            ("misty", "místy"),
            ("will_0", "vvill-O"),
            ("ニ口", "二ロ"),
            ("Ærø", "aero"),
        ],
    )
    def test_shares_its_skeleton(self, one: str, other: str) -> None:
        assert skeleton(one) == skeleton(other)

    @pytest.mark.parametrize(
        ("one", "other"), [("misty", "mistie"), ("ada", "ade"), ("車馬", "車炮"), ("a-b", "ab")]
    )
    def test_is_none_of_a_name_that_differs(self, one: str, other: str) -> None:
        assert skeleton(one) != skeleton(other)

    def test_has_the_skeleton_that_is_stored(self) -> None:
        """Rows hold skeletons: whoever changes the rule has to change the rows."""
        assert skeleton("Misty_10") == "rnlsty-lo"
