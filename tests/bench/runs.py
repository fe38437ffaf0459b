"""Every bench under its name; those that need no server are turned into figures here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.bench import (
    bench_bots,
    bench_domain,
    bench_http,
    bench_live,
    bench_memory,
    bench_parsing,
    bench_ratings,
    bench_rebuild,
    bench_rules,
    bench_service,
    bench_store,
    bench_sweep,
    bench_trips,
    bench_verify,
    bench_weight,
)
from tests.bench.figures import Figure, Target
from tests.bench.stage import Say, Size, Stage


def _rebuild(_stage: Stage, _size: Size, _say: Say) -> list[Figure]:
    found = bench_rebuild.run()
    events = found["events_a_match"]
    return [
        Figure(
            bench="rebuild",
            name=f"rebuild of a match of {events:.0f} events",
            value=found["rebuild_us"],
            unit="µs",
            compared="json.loads of each payload",
            beside=found["json_loads_us"],
            ratio=found["rebuild_to_json_loads"],
            target=Target("<=", 2),
            note="the bytes of the payloads, which is how the log stores an event",
        ),
        Figure(
            bench="rebuild",
            name="the same from the one document of a load",
            value=found["read_us"] + found["rebuild_us"],
            unit="µs",
            compared="json.loads of the document",
            beside=found["json_loads_of_document_us"],
            ratio=found["load_to_json_loads"],
            note="all columns of all events are read, hashes and commands too",
        ),
    ]


def _bots(_stage: Stage, _size: Size, _say: Say) -> list[Figure]:
    found = bench_bots.run()
    named = {"bot decision, mean": ("decision_ms", 1.5), "bot tables at start": ("tables_ms", 2000)}
    return [
        Figure(bench="bots", name=name, value=found[key], unit="ms", target=Target("<=", limit))
        for name, (key, limit) in named.items()
    ]


def _known(bench: str, run: Callable[[], dict[str, float]], *shown: str) -> list[Figure]:
    """Figures without a target, named as the bench names them; the unit is the name's end."""
    found = run()
    return [_named(bench, name, found[name]) for name in shown]


def _named(bench: str, name: str, value: float) -> Figure:
    for end, unit in (("_per_s", "/s"), ("_us", "µs")):
        if name.endswith(end):
            return Figure(
                bench=bench,
                name=f"{bench}: {name.removesuffix(end).replace('_', ' ')}",
                value=value,
                unit=unit,
            )
    return Figure(bench=bench, name=f"{bench}: {name.replace('_', ' ')}", value=value, unit="")


def _pure(
    bench: str, run: Callable[[], dict[str, float]], shown: Sequence[str]
) -> Callable[[Stage, Size, Say], list[Figure]]:
    return lambda _stage, _size, _say: _known(bench, run, *shown)


RUNS: dict[str, Callable[[Stage, Size, Say], list[Figure]]] = {
    "trips": bench_trips.run,
    "service": bench_service.run,
    "http": bench_http.run,
    "store": bench_store.run,
    "rebuild": _rebuild,
    "sweep": bench_sweep.run,
    "live": bench_live.run,
    "weight": bench_weight.run,
    "memory": bench_memory.run,
    "parsing": bench_parsing.run,
    "rules": _pure("rules", bench_rules.run, ("evolve_per_s", "legal_per_s", "score_per_s")),
    "bots": _bots,
    "domain": _pure("domain", bench_domain.run, ("evolve_us", "deal_us", "decide_us")),
    "verify": _pure("verify", bench_verify.run, ("log_per_s", "export_per_s", "chain_per_s")),
    "ratings": _pure("ratings", bench_ratings.run, ("rate_2_per_s", "fold_per_s")),
}
"""In the order in which they run."""
