from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from matches.services import codes, errors

ROOT = Path(__file__).resolve().parent.parent.parent.parent
UNSAID = {"not_invited"}
"""Refused by a match to whom the services have already said unknown_match."""
RAISERS = {"Problem", "ServiceError", "Rejected", "_plain", "unavailable"}


def sources() -> Iterator[ast.Module]:
    for folder in ("matches", "ratings"):
        for path in (ROOT / folder).rglob("*.py"):
            # An audit's findings have codes of their own: they refuse nothing.
            if "audit" not in path.parts and "management" not in path.parts:
                yield ast.parse(path.read_text())


def raised() -> set[str]:
    """Every code that the source gives to a refusal."""
    found: set[str] = set()
    for module in sources():
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and _name(node.func) in RAISERS and node.args:
                found |= set(_texts(node.args[0]))
            if isinstance(node, ast.Assign) and _name(node.targets[0]) == "default_code":
                found |= set(_texts(node.value))
    return found


def _name(node: ast.expr) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


def _texts(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    if isinstance(node, ast.IfExp):
        yield from _texts(node.body)
        yield from _texts(node.orelse)


class TestTable:
    def test_has_every_code_that_is_raised(self) -> None:
        assert raised() - set(codes.TABLE) == UNSAID

    def test_has_no_code_that_is_never_raised(self) -> None:
        assert set(codes.TABLE) - raised() == set()

    def test_gives_no_code_two_meanings(self) -> None:
        assert set(codes._REQUEST) & set(errors.meanings()) == set()

    def test_refuses_with_errors_only(self) -> None:
        assert all(400 <= code.status < 600 for code in codes.TABLE.values())

    def test_says_each_meaning_in_one_sentence_or_two(self) -> None:
        for code, entry in codes.TABLE.items():
            assert entry.meaning.endswith("."), code
            assert len(entry.meaning) <= 120, code

    def test_is_the_documented_one(self) -> None:
        found = (ROOT / "docs" / "errors.md").read_text()

        assert found == codes.markdown(), "python -m matches.services.codes > docs/errors.md"
