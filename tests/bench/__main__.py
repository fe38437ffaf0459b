"""`python -m tests.bench`: measure, print one table, write JSON. `--help` says the rest."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from functools import partial
from pathlib import Path

from tests.bench import figures, machine
from tests.bench.figures import Figure
from tests.bench.stage import FULL, QUICK, Stage, set_up
from tests.support.servers import ROOT

BENCHES = (
    "trips",
    "service",
    "http",
    "store",
    "rebuild",
    "sweep",
    "live",
    "weight",
    "memory",
    "parsing",
    "rules",
    "bots",
    "domain",
    "verify",
    "ratings",
)
BUSY = 1.5
"""A machine on which more than this many processes want to run measures something else."""


def main() -> int:
    """Run what was asked for; 1 where a target is missed."""
    asked = _asked()
    begun = time.monotonic()
    _say(f"load {machine.load():.1f}" + (": too busy to trust" if machine.load() > BUSY else ""))
    folder = Path(tempfile.mkdtemp(prefix="xqmj-bench-"))
    # Started by root, PostgreSQL runs as another user, who must get to its folder below.
    folder.chmod(0o711)
    try:
        with set_up(folder) as stage:
            found, facts = _measure(stage, asked)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    facts["seconds"] = round(time.monotonic() - begun)
    sys.stdout.write(f"{figures.table(found)}\n{_sentence(facts)}\n")
    asked.json.parent.mkdir(parents=True, exist_ok=True)
    asked.json.write_bytes(figures.document(found, **facts))
    missed = [figure.name for figure in found if figure.met is False]
    return 1 if missed and not asked.quick else 0


def _asked() -> Namespace:
    parser = ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("benches", nargs="*", metavar="bench", help=f"of {', '.join(BENCHES)}")
    parser.add_argument("--quick", action="store_true", help="only show that everything runs")
    parser.add_argument(
        "--json", type=Path, default=ROOT / "build" / "bench.json", help="where the JSON goes"
    )
    asked = parser.parse_args()
    unknown = set(asked.benches) - set(BENCHES)
    if unknown:
        parser.error(f"there is no bench {', '.join(sorted(unknown))}")
    return asked


def _measure(stage: Stage, asked: Namespace) -> tuple[list[Figure], dict[str, object]]:
    servers = stage.database()
    os.environ.update(stage.environment(servers, "none"))
    import django

    django.setup()
    from tests.bench import runs

    facts: dict[str, object] = {
        **machine.facts(servers.app_url),
        "fsync_ms": machine.fsync_ms(stage.folder, seconds=0.2 if asked.quick else 2.0),
        "load_before": machine.load(),
    }
    size = QUICK if asked.quick else FULL
    chosen = [bench for bench in BENCHES if bench in asked.benches or not asked.benches]
    found: list[Figure] = []
    for number, bench in enumerate(chosen, start=1):
        begun = time.monotonic()
        say = partial(_say_of, f"[{number}/{len(chosen)}] {bench}")
        found += runs.RUNS[bench](stage, size, say)
        say(f"done in {time.monotonic() - begun:.0f} s")
    facts["fsync_ms_after"] = machine.fsync_ms(stage.folder, seconds=0.2 if asked.quick else 2.0)
    facts["load_after"] = machine.load()
    return found, facts


def _sentence(facts: dict[str, object]) -> str:
    return (
        f"On {facts['cores']} cores of {facts['processor']}, {facts['memory_gb']} GB,"
        f" {facts['system']}, Python {facts['python']}; an 8 kB write is on disk after"
        f" {facts['fsync_ms']:.2f} ms before and {facts['fsync_ms_after']:.2f} ms after the run"
        f" (fdatasync, median); load {facts['load_before']:.1f} before;"
        f" PostgreSQL {facts['postgresql']}; {facts['seconds']} s in all."
    )


def _say_of(bench: str, text: str) -> None:
    _say(f"{bench}: {text}")


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
