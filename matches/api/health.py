"""Is the process alive, and may it serve: for whoever watches the server."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connections
from django.http import HttpResponse
from kombu import Connection
from redis import Redis
from rest_framework.request import Request

from matches.api.answers import Fact, HealthAnswer, ReadinessAnswer, answer
from matches.api.bodies import NoQuery
from matches.api.catalogue import PublicView
from matches.api.schema import operation
from xqmj_site import checks

KEPT_S = 1.0
"""What was found is told for so long: the questions are free, and cost the database something."""
STALE_S = 10.0
"""Nobody is told what is older than this, not even while it is being looked at again."""
PATIENCE_S = 0.5
"""No server beside the database is waited for longer."""


class HealthView(PublicView):
    """Liveness."""

    throttle_classes = ()

    @operation("health", "Does the process answer", {200: HealthAnswer}, tag="about", token=False)
    def get(self, request: Request) -> HttpResponse:
        """Always ok: a process that cannot answer does not."""
        self.query(request, NoQuery)
        return answer(HealthAnswer(status="ok"))


class ReadinessView(PublicView):
    """Readiness."""

    throttle_classes = ()

    @operation(
        "readiness",
        "May the process serve",
        {200: ReadinessAnswer, 503: ReadinessAnswer},
        tag="about",
        token=False,
    )
    def get(self, request: Request) -> HttpResponse:
        """The facts; 503 where one that is required is false."""
        self.query(request, NoQuery)
        facts = _found.get()
        ready = all(fact.ok or not fact.required for fact in facts)
        return answer(ReadinessAnswer(ready=ready, facts=facts), status=200 if ready else 503)


class _Found:
    """The facts found last. One thread at a time looks again; no other waits for it."""

    def __init__(self) -> None:
        self._looking = threading.Lock()
        self._found: tuple[float, tuple[Fact, ...]] = (-math.inf, ())

    def get(self) -> tuple[Fact, ...]:
        found_s, facts = self._found
        if time.monotonic() < found_s + KEPT_S:
            return facts
        if not self._looking.acquire(blocking=False):
            return facts if time.monotonic() < found_s + STALE_S else (_UNDER_WAY,)
        try:
            facts = (*_database(), _server("valkey", _valkey), _server("broker", _broker))
            self._found = (time.monotonic(), facts)
        finally:
            self._looking.release()
        return facts

    def forget(self) -> None:
        """Look again at the next question."""
        self._found = (-math.inf, ())


_UNDER_WAY = Fact("database", ok=False, required=True, found="not looked at yet")


_found = _Found()


def _database() -> tuple[Fact, ...]:
    connection = connections["default"]
    try:
        faults = checks.faults(connection)
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_user")
            role = str(cursor.fetchone()[0])
    except DatabaseError:
        return (Fact("database", ok=False, required=True, found="away"),)
    found = ", ".join(fault.code for fault in faults) or "as it must be"
    return (
        Fact("database", ok=True, required=True, found="up"),
        Fact("database_settings", ok=not faults, required=True, found=found),
        Fact("database_role", ok=role == settings.XQMJ_APP_ROLE, required=False, found=role),
    )


def _server(name: str, look: Callable[[], None]) -> Fact:
    try:
        look()
    except Exception:  # whatever a client of a server that is away may raise
        return Fact(name, ok=False, required=False, found="away")
    return Fact(name, ok=True, required=False, found="up")


def _valkey() -> None:
    with Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=PATIENCE_S,
        socket_connect_timeout=PATIENCE_S,
        retry=None,
    ) as client:
        client.ping()


def _broker() -> None:
    with Connection(settings.BROKER_URL, connect_timeout=PATIENCE_S) as connection:
        connection.ensure_connection(max_retries=1, timeout=1)
