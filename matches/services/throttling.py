"""Limits on how often somebody may ask, by account and by address.

The counts are shared by all processes through Valkey. So that a move need not
wait for a second server, a process takes a few requests of an account's
allowance at a time and spends those by itself. While Valkey is away each
process counts alone and play goes on; a scope that guards passwords is closed
instead, since guessing must not become free by taking Valkey down.
"""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from typing import Any, cast

import msgspec
import redis
from django.conf import settings

from matches.services.errors import ServiceError


class Limit(msgspec.Struct, frozen=True):
    """So many requests in a window of so many seconds that begins with the first.

    `guards` closes the scope while the shared count cannot be kept.
    """

    count: int
    seconds: int
    guards: bool = False


DEFAULTS: dict[str, Limit] = {
    "address": Limit(6_000, 60),
    "play": Limit(600, 60),
    "read": Limit(1_200, 60),
    "write": Limit(60, 60),
    "verify": Limit(30, 60),
    "login": Limit(10, 60, guards=True),
    "register": Limit(10, 60, guards=True),
    "guest": Limit(10, 60, guards=True),
    "new_match": Limit(100, 86_400),
    "new_seek": Limit(100, 86_400),
    "new_challenge": Limit(40, 86_400),
    "mail": Limit(5, 3_600, guards=True),
    "connect": Limit(120, 60),
}
"""The scopes: all requests of an address; then moves, reads and other writes of an account,
verifications of an address, log-ins of an address and of a name, new accounts of an address,
matches, seeks and challenges of an account in its first 24 hours,
mails to a mailbox or caused by an address, streams that an address or an account opens."""

LEASES_A_WINDOW = 50
"""A process takes this share of an allowance at a time,"""
LARGEST_LEASE = 100
"""but no more than this, since what it has not spent is lost with it."""
STORE_TIMEOUT_S = 0.05
"""A move waits no longer than this for Valkey."""
GUARD_TIMEOUT_S = 1.0
"""A log-in waits so long: it would be refused without the count."""
BREAK_S = 1.0
"""After a failure Valkey is left alone for so long."""
KEPT = 20_000
"""So many allowances a process remembers; it forgets those first that are not asked for."""

_Key = tuple[str, str]

_SPEND = """
local n = redis.call('INCRBY', KEYS[1], ARGV[1])
if n == tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return {n, redis.call('PTTL', KEYS[1])}
"""


class _Lease:
    """What a process may still spend by itself until an instant of the monotonic clock.

    `left` is −1 where the allowance is known to be spent; `alone`: counted without Valkey.
    """

    __slots__ = ("alone", "left", "until")

    def __init__(self, left: int, until: float, *, alone: bool = False) -> None:
        self.left = left
        self.until = until
        self.alone = alone


class Throttle:
    """The limits as one process keeps them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._leases: OrderedDict[_Key, _Lease] = OrderedDict()
        self._scripts: dict[tuple[str, bool], Any] = {}
        self._broken_until = 0.0

    def spend(self, scope: str, who: str) -> None:
        """Count one request; raises `ServiceError` too_many_requests or throttle_unavailable."""
        limit = limit_of(scope)
        now = time.monotonic()
        with self._lock:
            if self._taken((scope, who), now):
                return
        share = min(LARGEST_LEASE, limit.count // LEASES_A_WINDOW)
        size = 1 if limit.guards else max(1, share)
        counted = self._count(scope, who, size=size, limit=limit, now=now)
        if counted is None and limit.guards:
            raise ServiceError("throttle_unavailable", retry_after_s=5)
        with self._lock:
            if counted is None:
                self._count_alone((scope, who), limit, now)
            else:
                spent, left_s = counted
                granted = min(size, limit.count - (spent - size))
                self._settle((scope, who), granted, now + left_s, limit)

    def _taken(self, key: _Key, now: float) -> bool:
        """Spend one of the lease; False where another one must be fetched. The lock is held."""
        lease = self._leases.get(key)
        if lease is None or lease.until <= now or lease.left == 0:
            return False
        if lease.left < 0:
            raise _too_many(lease.until)
        lease.left -= 1
        self._leases.move_to_end(key)
        return True

    def _settle(self, key: _Key, granted: int, until: float, limit: Limit) -> None:
        """Spend one of what the shared count granted, and keep the rest. The lock is held.

        Several threads may have fetched at once, and their answers come in any
        order: what is granted is added, and the answer of whoever came too late
        takes nothing from what another has brought. Windows end a whole window
        apart, so two ends that are near each other are one window's.
        """
        lease, now, near = self._leases.get(key), time.monotonic(), limit.seconds / 2
        if lease is not None and (lease.alone or lease.until <= max(now, until - near)):
            lease = None
        late = lease is not None and until < lease.until - near
        if granted <= 0:
            if lease is not None and lease.left > 0:
                lease.left -= 1
                return
            if not late:
                self._keep(key, _Lease(-1, until))
            raise _too_many(until)
        if lease is None:
            self._keep(key, _Lease(granted - 1, until))
        elif not late:
            lease.left = max(0, lease.left) + granted - 1

    def _count_alone(self, key: _Key, limit: Limit, now: float) -> None:
        """Spend one of this process's own allowance. The lock is held."""
        if self._taken(key, now):
            return
        lease = self._leases.get(key)
        if lease is not None and lease.alone and lease.until > now:
            lease.left = -1
            raise _too_many(lease.until)
        self._keep(key, _Lease(limit.count - 1, now + limit.seconds, alone=True))

    def _keep(self, key: _Key, lease: _Lease) -> None:
        self._leases[key] = lease
        self._leases.move_to_end(key)
        while len(self._leases) > KEPT:
            self._leases.popitem(last=False)

    def _count(
        self, scope: str, who: str, *, size: int, limit: Limit, now: float
    ) -> tuple[int, float] | None:
        """The shared count with `size` added and the window's rest in seconds; None: no Valkey."""
        if now < self._broken_until and not limit.guards:
            return None
        try:
            spent, left_ms = self._script(patient=limit.guards)(
                keys=[f"xqmj:throttle:{scope}:{who}"], args=[size, limit.seconds * 1000]
            )
        except (redis.RedisError, OSError):
            self._broken_until = time.monotonic() + BREAK_S
            return None
        return int(spent), max(0, int(left_ms)) / 1000

    def _script(self, *, patient: bool) -> Callable[..., tuple[int, int]]:
        url, timeout_s = settings.REDIS_URL, GUARD_TIMEOUT_S if patient else STORE_TIMEOUT_S
        script = self._scripts.get((url, patient))
        if script is None:
            client = redis.Redis.from_url(
                url, socket_timeout=timeout_s, socket_connect_timeout=timeout_s, retry=None
            )
            script = self._scripts[url, patient] = client.register_script(_SPEND)
        return cast("Callable[..., tuple[int, int]]", script)


def _too_many(until: float) -> ServiceError:
    # The clock is read anew: another thread may have begun the window after this request came.
    left_s = math.ceil(until - time.monotonic())
    return ServiceError("too_many_requests", retry_after_s=max(1, left_s))


def limit_of(scope: str) -> Limit:
    """The limit of a scope: that of `XQMJ_THROTTLES` where it names the scope, else ours."""
    stated = settings.XQMJ_THROTTLES.get(scope)
    return DEFAULTS[scope] if stated is None else _stated(scope, stated)


@lru_cache(maxsize=64)
def _stated(scope: str, text: str) -> Limit:
    count, _, seconds = text.partition("/")
    return Limit(int(count), int(seconds), guards=DEFAULTS[scope].guards)


def name_of(text: str) -> str:
    """A stranger's text as something to count by."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


throttle = Throttle()
"""The process's one throttle."""
