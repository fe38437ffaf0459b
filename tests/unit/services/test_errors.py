"""The one table of refusals."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from matches.games import registry
from matches.games.protocol import Rejected
from matches.services.codes import TABLE
from matches.services.errors import CODES, ServiceError, meanings, refused, unavailable

ROOT = Path(__file__).resolve().parents[3]
RAISED = re.compile(r'(?:ServiceError|Rejected)\(\s*"([a-z_]+)"')


def raised_in(folder: str) -> set[str]:
    """Every code that the sources name where they refuse."""
    sources = (ROOT / folder).rglob("*.py")
    return {code for path in sources for code in RAISED.findall(path.read_text())}


class TestTable:
    @pytest.mark.parametrize("folder", ["matches/services", "matches/domain", "matches/games"])
    def test_has_every_code_that_is_raised(self, folder: str) -> None:
        unsaid = {"not_invited"} if folder == "matches/domain" else set()
        assert raised_in(folder) - set(meanings()) == unsaid

    def test_has_no_code_that_nobody_raises(self) -> None:
        raised = raised_in("matches/services") | raised_in("matches/domain")
        assert set(CODES) - raised - set(registry.refusals()) == set()

    def test_suggests_statuses_of_refusals_only(self) -> None:
        assert {code.status for code in CODES.values()} <= {
            *(400, 401, 403, 404, 409, 410, 412, 429, 503)
        }

    def test_says_each_meaning_in_one_sentence_or_two(self) -> None:
        for code in meanings().values():
            assert code.meaning.endswith(".")
            assert "\n" not in code.meaning


class TestRefusal:
    def test_of_a_game_keeps_its_code_and_facts(self) -> None:
        error = refused(Rejected("not_your_turn", rule="XM-25"))

        assert (error.code, TABLE[error.code].status) == ("not_your_turn", 409)
        assert dict(error.detail) == {"rule": "XM-25"}

    def test_that_may_pass_says_when_to_try_again(self) -> None:
        assert (unavailable().code, unavailable().retry_after_s) == ("unavailable", 1)

    def test_has_no_facts_unless_given(self) -> None:
        assert ServiceError("unknown_match").detail == {}
