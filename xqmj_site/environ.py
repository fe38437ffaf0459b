"""Read settings from the environment, with refusals that name the variable."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ImproperlyConfigured

SEAL_KEY_BYTES = 32
"""AES-256: the length of every seal key."""


def text(name: str, default: str | None = None) -> str:
    """Return the variable's value; without value and default, refuse to start."""
    value = os.environ.get(name, "").strip()
    if value:
        return value
    if default is None:
        raise ImproperlyConfigured(f"{name} is not set. docs/operations.md says what it holds.")
    return default


def number(name: str, default: int) -> int:
    """Return a whole number."""
    value = text(name, str(default))
    try:
        return int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}.") from None


def longpoll_waiters(threads: int) -> int:
    """Return how many long polls may wait in a process of so many threads.

    Half of them, or what `XQMJ_LONGPOLL_WAITERS` says, and always one thread
    fewer than there are: a command must find one.
    """
    return min(number("XQMJ_LONGPOLL_WAITERS", max(1, threads // 2)), threads - 1)


def flag(name: str, *, default: bool) -> bool:
    """Return a yes or no: 1, true, yes, on and 0, false, no, off."""
    value = text(name, "yes" if default else "no").lower()
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} must be yes or no, not {value!r}.")


def words(name: str, default: str | None = None) -> list[str]:
    """Return a comma-separated list without its empty members."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def pairs(name: str, default: str | None = None) -> dict[str, str]:
    """Return a comma-separated list of `key=value` as a dictionary."""
    found = {}
    for word in words(name, default):
        key, equals, value = word.partition("=")
        if not (key and equals and value):
            raise ImproperlyConfigured(f"{name} must read key=value,key=value.")
        found[key.strip()] = value.strip()
    return found


def seal_keys(value: str) -> dict[str, bytes]:
    """Read `k1:base64,k0:base64`: seal keys by id, the first being the current one."""
    keys: dict[str, bytes] = {}
    for part in value.split(","):
        key_id, _, encoded = part.strip().partition(":")
        try:
            key = base64.b64decode(encoded, validate=True)
        except binascii.Error:
            key = b""
        if not key_id or len(key) != SEAL_KEY_BYTES or key_id in keys:
            raise ImproperlyConfigured(
                "XQMJ_SEAL_KEYS must read id:key,id:key with 32 bytes of base64 a key, "
                "each id once, the current key first."
            )
        keys[key_id] = key
    return keys


def database(url: str, *, options: str, engine: str = "xqmj_site.database") -> dict[str, Any]:
    """Turn a libpq URL into Django's settings of one database.

    `options` are the server settings of every session (libpq's `-c name=value`).
    A host that begins with a slash is a socket's folder, as in libpq.
    """
    from psycopg import conninfo

    parts: Mapping[str, Any] = conninfo.conninfo_to_dict(url)
    known = {"host": "HOST", "port": "PORT", "dbname": "NAME", "user": "USER"}
    known["password"] = "PASSWORD"  # noqa: S105 - the name of a setting
    settings = {known[key]: str(value) for key, value in parts.items() if key in known}
    extra = {key: value for key, value in parts.items() if key not in known}
    extra["options"] = f"{extra.get('options', '')} {options}".strip()
    return {
        "ENGINE": engine,
        "CONN_MAX_AGE": 0,
        "ATOMIC_REQUESTS": False,
        "OPTIONS": extra,
        **settings,
    }
