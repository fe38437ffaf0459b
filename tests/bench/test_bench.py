"""Every bench runs, on as little as it can; what it measures then means nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.figures import Figure, Target, side_by_side, table
from tests.support.servers import ROOT


def figure(**changes: object) -> Figure:
    return Figure(**{"bench": "b", "name": "speed", "value": 3.0, "unit": "/s", **changes})  # type: ignore[arg-type]


class TestFigure:
    @pytest.mark.parametrize(
        ("target", "met"),
        [(Target(">=", 3), True), (Target("<=", 2.9), False), (Target("==", 3), True)],
    )
    def test_is_met_by_its_value(self, target: Target, met: bool) -> None:
        assert figure(target=target).met is met

    def test_is_met_by_its_ratio_where_it_has_one(self) -> None:
        assert figure(ratio=0.4, target=Target(">=", 0.5)).met is False

    def test_is_neither_met_nor_missed_without_a_target(self) -> None:
        assert figure().met is None

    def test_of_alternating_rounds_is_the_median_of_their_ratios(self) -> None:
        pairs = [(10.0, 20.0), (30.0, 30.0), (2.0, 20.0)]

        found = side_by_side(
            bench="b", name="n", unit="", compared="c", pairs=pairs, target=Target(">=", 0.5)
        )

        assert (found.value, found.beside, found.ratio, found.met) == (10.0, 20.0, 0.5, True)


class TestTable:
    def test_shows_what_is_missed(self) -> None:
        text = table([figure(target=Target("<=", 2), note="a note")])

        assert "speed [1]  3 /s" in text
        assert "NO" in text
        assert "[1] a note" in text


@pytest.mark.slow
class TestBench:
    def test_runs_as_a_whole(self, tmp_path: Path) -> None:
        found = tmp_path / "bench.json"

        done = subprocess.run(
            [sys.executable, "-m", "tests.bench", "--quick", "--json", str(found)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )

        assert done.returncode == 0, done.stderr
        figures = json.loads(found.read_text())["figures"]
        certain = {"trips", "weight"}
        assert [
            one["name"] for one in figures if one["bench"] in certain and one["met"] is False
        ] == []

    def test_refuses_a_bench_that_there_is_not(self) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "tests.bench", "juggling"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )

        assert done.returncode == 2
        assert "juggling" in done.stderr
