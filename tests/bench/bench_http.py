"""A whole move over HTTP, beside the least application that makes the same append."""

from __future__ import annotations

from contextlib import ExitStack
from statistics import quantiles

from tests.bench.figures import Figure, Target, side_by_side
from tests.bench.stage import Say, Size, Stage

CLIENTS = 8
MATCHES = 2_400
"""Each match can take a command every 1.5 s."""
WARMING = 6
"""Rounds before the first that counts: by then both processes have seen every match, as they have
after the first moves of a match that is played."""


def run(stage: Stage, size: Size, say: Say) -> list[Figure]:
    """Moves a second of 8 clients of the web role, in turn with 8 of the raw application."""
    servers = stage.database()
    with ExitStack() as stack:
        count = 60 if size.quick else MATCHES
        say(f"dealing {count} matches")
        clients = stack.enter_context(stage.program(servers, "http_clients", count))
        clients.answer()
        more = {"XQMJ_CACHE_MATCHES": "8192"}
        api = stack.enter_context(stage.web(servers, **more))
        raw = stack.enter_context(stage.web(servers, application="tests.bench.raw_app:application"))
        pairs: list[tuple[float, float]] = []
        took: dict[str, list[float]] = {"api": [], "raw": []}
        warming = 0 if size.quick else WARMING
        for number in range(1 - warming, size.rounds + 1):
            say(f"round {number} of {size.rounds}")
            rates = []
            for kind, port in (("api", api), ("raw", raw)):
                answer = clients.ask(kind, port, CLIENTS, size.round_s)
                rates.append(answer["rate"])
                if number > 0:
                    took[kind] += answer["took_s"]
            if number > 0:
                pairs.append((rates[0], rates[1]))
    cuts = {kind: quantiles(times, n=100) for kind, times in took.items()}
    note = (
        f"8 clients on 32 connections; a move took {cuts['api'][49] * 1000:.1f} ms at the median,"
        f" {cuts['api'][98] * 1000:.1f} at p99 (raw {cuts['raw'][49] * 1000:.1f} and"
        f" {cuts['raw'][98] * 1000:.1f})"
    )
    return [
        side_by_side(
            bench="http",
            name="HTTP action, token and throttle",
            unit="/s",
            compared="raw WSGI, same append",
            pairs=pairs,
            target=Target(">=", 0.40),
            note=note,
        )
    ]
