"""What the services count, for Prometheus."""

from __future__ import annotations

from functools import lru_cache

from prometheus_client import Counter, Gauge, Histogram

COMMANDS = Counter("xqmj_commands_total", "Commands by how they ended.", ["outcome"])
"""`ok`, `replayed`, or the code of the refusal."""
RETRIES = Counter("xqmj_append_retries_total", "Appends that lost a race, by outcome.", ["outcome"])
SETTLED = Counter("xqmj_settled_events_total", "Events the table owed, by who noticed.", ["by"])
"""`command`, `read` or `sweep`."""
LATENESS = Histogram(
    "xqmj_sweep_lateness_seconds",
    "From the instant an event was due to its settling by a sweep, on the database clock.",
    buckets=(0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.5, 1, 2.5, 5, 10, 60),
)
SWEEP_FAILURES = Counter("xqmj_sweep_failures_total", "Matches a sweep could not settle.", ["code"])
COMPUTER_FAILURES = Counter(
    "xqmj_computer_failures_total", "Turns the computer could not play, by code.", ["code"]
)
CACHE = Counter("xqmj_cache_total", "Looks into the cache of folded matches.", ["result"])
"""`hit`, `miss`, or `dropped` where the log no longer agreed."""
OUTBOX = Counter("xqmj_outbox_total", "Notices and nudges, by fate.", ["box", "result"])
"""Boxes `notices`, `nudges`, `rated` and `turns`; results `sent`, `failed`, `dropped`."""
WAITERS = Gauge("xqmj_waiters", "Long polls that wait now.", multiprocess_mode="livesum")
BEATS = Counter("xqmj_beats_total", "Service heartbeats, by result.", ["result"])


def count(counter: Counter, *labels: str, number: int = 1) -> None:
    """Add to a counter under its labels."""
    _child(counter, labels).inc(number)


@lru_cache(maxsize=1024)
def _child(counter: Counter, labels: tuple[str, ...]) -> Counter:
    # Prometheus's own look-up of labels takes as long as a small part of a move.
    return counter.labels(*labels)
