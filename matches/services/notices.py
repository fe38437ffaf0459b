"""Hints that a match has moved on: to other processes through Valkey, to polls that wait here.

A notice says which match, and is never an event: whoever gets one looks at the
log. Losing one costs a waiting poll a second, so nothing here may ever block or
fail a request.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from uuid import UUID

import msgspec
from django.conf import settings
from redis import Redis, RedisError
from redis.backoff import NoBackoff
from redis.retry import Retry

from matches.domain.clock import Due
from matches.domain.state import Match
from matches.eventstore.rows import FINISHED
from matches.services import metrics, steps, turns
from matches.services.cache import Entry
from matches.services.outbox import Outbox

LOG = logging.getLogger("xqmj.services")

CHANNEL = "xqmj:matches"
TIMEOUT_S = 0.5
"""Valkey is near; one that takes longer is treated as away."""
NUDGES_PER_S = 2
"""A task costs its sender and its worker more than a move does, and the sweep needs none."""
LISTEN_S = 5.0
RECONNECT_S = 0.5


class Nudge(msgspec.Struct, frozen=True):
    """The table has something to do in a match after `wait_s`."""

    match_id: UUID
    wait_s: float


class Waiter:
    """Somebody who waits for the next commit of one match."""

    def __init__(self) -> None:
        self._told = threading.Event()

    def tell(self) -> None:
        """Wake it, or keep its next wait from waiting."""
        self._told.set()

    def wait(self, timeout_s: float) -> bool:
        """Whether it was told anything since the last wait."""
        told = self._told.wait(timeout_s)
        self._told.clear()
        return told


class Switchboard:
    """Who wants to know of which match in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: dict[UUID, set[Callable[[], None]]] = {}
        self._waiting = 0

    def add(self, match_id: UUID, call: Callable[[], None]) -> None:
        """Call back at every notice of the match; the callback must be quick and must not raise."""
        with self._lock:
            self._calls.setdefault(match_id, set()).add(call)

    def remove(self, match_id: UUID, call: Callable[[], None]) -> None:
        """Call back no more."""
        with self._lock:
            calls = self._calls.get(match_id, set())
            calls.discard(call)
            if not calls:
                self._calls.pop(match_id, None)

    def tell(self, match_id: UUID) -> None:
        """Call everybody who wants to know of the match."""
        with self._lock:
            calls = list(self._calls.get(match_id, ()))
        for call in calls:
            call()

    def tell_all(self) -> None:
        """Call everybody: notices may have been missed."""
        with self._lock:
            calls = [call for calls in self._calls.values() for call in calls]
        for call in calls:
            call()

    def enter(self, limit: int) -> bool:
        """Take one of `limit` places to wait in; False where all are taken."""
        with self._lock:
            if self._waiting >= limit:
                return False
            self._waiting += 1
        metrics.WAITERS.inc()
        return True

    def leave(self) -> None:
        """Give the place back."""
        with self._lock:
            self._waiting -= 1
        metrics.WAITERS.dec()


class Listener:
    """Hears the notices of all processes in a thread of its own, for ever."""

    def __init__(self, switchboard: Switchboard) -> None:
        self._switchboard = switchboard
        self._thread = threading.Thread(target=self._run, name="xqmj-listener", daemon=True)

    def start(self) -> None:
        """Begin to listen."""
        self._thread.start()

    def _run(self) -> None:
        while True:
            try:
                self._listen()
            except (RedisError, OSError) as error:
                LOG.debug("no notices are heard: %s", error)
            except Exception:
                LOG.exception("the listener failed")
            time.sleep(RECONNECT_S)

    def _listen(self) -> None:
        with _client(socket_timeout=LISTEN_S) as client, client.pubsub() as heard:
            heard.subscribe(CHANNEL)
            self._switchboard.tell_all()
            asked = False
            while True:
                message = heard.get_message(ignore_subscribe_messages=True, timeout=LISTEN_S / 2)
                if message is None and asked:
                    # A network that swallows what is sent closes no connection.
                    raise TimeoutError("no answer to a ping")
                asked = message is None
                if message is None:
                    heard.ping()
                elif message["type"] == "message":
                    for match_id in msgspec.json.decode(message["data"], type=list[UUID]):
                        self._switchboard.tell(match_id)


class Allowance:
    """So many a second, and no more at once than a second's worth."""

    def __init__(self, per_s: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_s = per_s
        self._clock = clock
        self._lock = threading.Lock()
        self._left = float(per_s)
        self._at_s = clock()

    def spend(self) -> bool:
        """Whether there is one left; it is then gone."""
        with self._lock:
            now_s = self._clock()
            gained = (now_s - self._at_s) * self._per_s
            self._left, self._at_s = min(float(self._per_s), self._left + gained), now_s
            if self._left < 1:
                return False
            self._left -= 1
            return True


class _Hub:
    """What this process has of all that; made anew after a fork."""

    def __init__(self) -> None:
        self.switchboard = Switchboard()
        self.notices: Outbox[UUID] = Outbox("notices", _publish)
        self.nudges: Outbox[Nudge] = Outbox("nudges", _nudge)
        self.rated: Outbox[UUID] = Outbox("rated", _rate)
        self.turns: Outbox[Entry] = Outbox("turns", turns.note)
        self.allowance = Allowance(NUDGES_PER_S)
        self._publisher: Redis | None = None
        self._listener: Listener | None = None
        self._lock = threading.Lock()

    def publisher(self) -> Redis:
        """The connection that notices go out by; only the outbox's thread uses it."""
        if self._publisher is None:
            self._publisher = _client(socket_timeout=TIMEOUT_S)
        return self._publisher

    def listen(self) -> None:
        """Hear other processes from now on."""
        if self._listener is None:
            with self._lock:
                if self._listener is None:
                    self._listener = Listener(self.switchboard)
                    self._listener.start()


def committed(entry: Entry, due: Due | None) -> None:
    """Tell whoever waits that a match has moved on. Called after every commit."""
    hub = _hub
    hub.switchboard.tell(entry.match_id)
    hub.notices.put(entry.match_id)
    if settings.XQMJ_RATED_TASK and _is_to_be_rated(entry.match):
        hub.rated.put(entry.match_id)
    if turns.place_of(entry.match) is not None:
        # Whatever the computer can do now: the other seat may not notice a difference.
        hub.turns.put(entry)
    within_ms = settings.XQMJ_NUDGE_WITHIN_MS
    if due is None or not within_ms or due.at_ms - entry.now_ms > within_ms:
        return
    if hub.allowance.spend():
        hub.nudges.put(Nudge(entry.match_id, max(0, due.look_at_ms - entry.now_ms) / 1000))


def _is_to_be_rated(match: Match) -> bool:
    # Nothing follows an end, so a match is committed in this state once.
    return match.setup.created.rated and steps.status_of(match) == FINISHED


@contextlib.contextmanager
def waiting(match_id: UUID) -> Iterator[Waiter | None]:
    """A waiter for the match, or None where too many wait already (docs/adr/0011)."""
    hub = _hub
    if not hub.switchboard.enter(settings.XQMJ_LONGPOLL_WAITERS):
        yield None
        return
    try:
        waiter = Waiter()
        with watching(match_id, waiter.tell):
            yield waiter
    finally:
        hub.switchboard.leave()


@contextlib.contextmanager
def watching(match_id: UUID, call: Callable[[], None]) -> Iterator[None]:
    """Call back at every notice of the match, from some thread; the callback must be quick."""
    hub = _hub
    hub.listen()
    hub.switchboard.add(match_id, call)
    try:
        yield
    finally:
        hub.switchboard.remove(match_id, call)


def flush() -> None:
    """Send what waits to be sent: for an orderly end."""
    _hub.notices.close()
    _hub.nudges.close()
    _hub.rated.close()
    _hub.turns.close()


def _publish(moved_on: Sequence[UUID]) -> None:
    _hub.publisher().publish(CHANNEL, msgspec.json.encode(list(dict.fromkeys(moved_on))))


def _nudge(nudges: Sequence[Nudge]) -> None:
    # Not `current_app`: that is another one in every thread.
    from xqmj_site.celery import app

    for nudge in nudges:
        app.send_task(
            "matches.settle_match",
            args=(nudge.match_id.hex,),
            countdown=nudge.wait_s,
            expires=nudge.wait_s + 60,
            retry=False,
        )


def _rate(_ended: Sequence[UUID]) -> None:
    # One message for all: the task looks for itself which matches have finished.
    from xqmj_site.celery import app

    # No expiry: a worker whose clock is ahead would drop every one.
    app.send_task(settings.XQMJ_RATED_TASK, retry=False)


def _client(*, socket_timeout: float) -> Redis:
    return Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=socket_timeout,
        socket_connect_timeout=TIMEOUT_S,
        socket_keepalive=True,
        retry=Retry(NoBackoff(), 0),
    )


_hub = _Hub()


def _forget() -> None:
    """After a fork: threads, sockets and locks are the parent's."""
    global _hub  # noqa: PLW0603 - one a process is the point
    _hub = _Hub()


os.register_at_fork(after_in_child=_forget)
atexit.register(flush)
