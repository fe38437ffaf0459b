"""The house's measures: sizes, words at every door, and what the pure middle must not hold."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("matches", "ratings", "xqmj_site")
PURE = ("matches/games", "matches/domain")

LONGEST_FUNCTION = 60
LONGEST_FILE = 500
NINE_TENTHS = 30
"""Lines that nine functions in ten keep to."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def sources(*folders: str) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "migrations" not in path.parts:
                yield path


def functions(path: Path) -> Iterator[Function]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, Function):
            yield node


def lines(node: Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def place(path: Path, node: ast.stmt | ast.expr) -> str:
    return f"{path.relative_to(ROOT)}:{node.lineno}"


class TestSizes:
    def test_no_file_is_longer_than_500_lines(self) -> None:
        long = {
            path.relative_to(ROOT).as_posix(): count
            for path in sources(*PACKAGES, "tests")
            if (count := path.read_text(encoding="utf-8").count("\n")) > LONGEST_FILE
        }

        assert long == {}

    def test_no_function_is_longer_than_60_lines(self) -> None:
        long = {
            f"{place(path, node)} {node.name}": lines(node)
            for path in sources(*PACKAGES, "tests")
            for node in functions(path)
            if lines(node) > LONGEST_FUNCTION
        }

        assert long == {}

    def test_nine_functions_in_ten_keep_to_30_lines(self) -> None:
        sizes = sorted(lines(node) for path in sources(*PACKAGES) for node in functions(path))

        assert sizes[int(len(sizes) * 0.9)] <= NINE_TENTHS


class TestPublicNames:
    def test_say_what_they_promise(self) -> None:
        silent = [
            f"{place(path, node)} {node.name}"
            for path in sources(*PACKAGES)
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and not node.name.startswith("_")
            and not ast.get_docstring(node)
        ]

        assert silent == []


def floats(tree: ast.Module) -> Iterator[ast.expr]:
    """Find float literals, `float`, `round` and true division: money and time are whole here."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=float() | complex()):
                yield node
            case ast.Name(id="float" | "round" | "complex"):
                yield node
            case ast.BinOp(op=ast.Div()):
                yield node


class TestPureMiddle:
    def test_holds_no_float(self) -> None:
        found = [
            place(path, node)
            for path in sources(*PURE)
            for node in floats(ast.parse(path.read_text(encoding="utf-8")))
        ]

        assert found == []

    @pytest.mark.parametrize(
        "source", ["x = 1.5", "x = float(1)", "x = round(y)", "x = y / 2", "def f(a: float): ..."]
    )
    def test_would_notice_a_float(self, source: str) -> None:
        assert list(floats(ast.parse(source)))

    @pytest.mark.parametrize("folder", PURE)
    @pytest.mark.parametrize(
        "source",
        [
            "import random\n",
            "from time import time\n",
            "from datetime import datetime\n",
            "import logging\n",
            "import os\n",
            "from secrets import token_bytes\n",
        ],
    )
    def test_may_not_take_up(self, folder: str, source: str) -> None:
        checked = subprocess.run(
            [
                *(sys.executable, "-m", "ruff", "check", "--no-cache"),
                *("--select", "TID251", "--stdin-filename", f"{folder}/planted.py", "-"),
            ],
            cwd=ROOT,
            input=source,
            capture_output=True,
            text=True,
            check=False,
        )

        assert "TID251" in checked.stdout

    def test_imports_nothing_when_it_is_imported(self) -> None:
        foreign = "django rest_framework celery channels psycopg redis random logging structlog"
        code = (
            "import sys, matches.domain.match, matches.games.registry, ratings.glicko2;"
            f"print(sorted(set('{foreign}'.split()) & set(sys.modules)))"
        )

        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        )

        # msgspec and decimal bring none of these along either.
        assert done.stdout.strip() == "[]"


class TestContracts:
    def test_name_every_game_family(self) -> None:
        settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
        contracts = {one["id"]: one for one in settings["tool"]["importlinter"]["contracts"]}
        families = {
            f"matches.games.{folder.parent.name}"
            for folder in (ROOT / "matches" / "games").glob("*/__init__.py")
        }

        assert families == set(contracts["families"]["modules"])

    @pytest.mark.slow
    def test_are_kept(self) -> None:
        done = subprocess.run(
            [str(Path(sys.executable).with_name("lint-imports")), "--no-logo"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )

        assert done.returncode == 0, done.stdout
