"""Trips to PostgreSQL that a move over HTTP takes, as PostgreSQL itself counts them."""

from __future__ import annotations

import time
from contextlib import ExitStack

import psycopg

from tests.bench.figures import Figure, Target
from tests.bench.stage import Program, Say, Size, Stage
from tests.support.servers import Servers

MATCHES = 40
TOKEN_TRUSTED_S = 5.0

_COUNT = """
SELECT coalesce(sum(calls), 0),
       coalesce(sum(calls) FILTER (WHERE query ~* '^(begin|start|commit|savepoint|set)'), 0)
  FROM pg_stat_statements
 WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
   AND userid = 'xqmj_app'::regrole AND query !~ 'es.beat|matches_presence'
"""


def run(stage: Stage, size: Size, say: Say) -> list[Figure]:
    """Statements a move with a token seen within five seconds, and with one that was not.

    What every web process writes from threads of its own, whatever is asked, is left out: the
    heartbeat ten times a second, and who is there once a second.
    """
    servers = stage.database()
    count = 4 if size.quick else MATCHES
    with ExitStack() as stack:
        say(f"dealing {count} matches")
        clients = stack.enter_context(stage.program(servers, "http_clients", count))
        clients.answer()
        # One process, so that it is known which tokens have been seen.
        port = stack.enter_context(stage.web(servers, WEB_WORKERS="1"))
        # Moves come first that open the connection and prepare the statements on it.
        for _ in range(2):
            clients.ask("move", port)
        time.sleep(TOKEN_TRUSTED_S + 0.5)
        unseen = _counted(servers, clients, port)
        clients.ask("look", port)
        seen = _counted(servers, clients, port)
    return [
        Figure(
            bench="trips",
            name="trips to PostgreSQL an action",
            value=seen[0],
            unit="",
            target=Target("==", 2),
            note=f"{count} moves over HTTP with tokens seen within 5 s; by pg_stat_statements",
        ),
        Figure(
            bench="trips",
            name="explicit transactions an action",
            value=max(seen[1], unseen[1]),
            unit="",
            target=Target("==", 0),
        ),
        Figure(
            bench="trips",
            name="trips more for a token not seen lately",
            value=unseen[0] - seen[0],
            unit="",
            target=Target("<=", 1),
        ),
    ]


def _counted(servers: Servers, clients: Program, port: int) -> tuple[float, float]:
    """Statements a move, and those that begin or end a transaction, over one move a match."""
    before = _calls(servers)
    matches = clients.ask("move", port)["matches"]
    after = _calls(servers)
    return (after[0] - before[0]) / matches, (after[1] - before[1]) / matches


def _calls(servers: Servers) -> tuple[int, int]:
    with psycopg.connect(servers.superuser_url, autocommit=True) as connection:
        row = connection.execute(_COUNT).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])
