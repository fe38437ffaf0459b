"""Who asks for a stream or a socket, and for what: read from the scope as REST reads a request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from django.conf import settings

from matches.services import accounts, wire
from matches.services.errors import ServiceError
from matches.services.throttling import throttle

LARGEST_SEQ = 1_000_000
PROTOCOL = "xqmj.v1"
"""The subprotocol of our sockets."""
TOKEN_PREFIX = "xqmj.token."  # noqa: S105 - what stands before one
"""A browser, which can send no header, offers its token as a subprotocol behind this."""

_NUMBER = re.compile(r"0|[1-9][0-9]{0,6}", re.ASCII)

Scope = Mapping[str, Any]


class Asker(NamedTuple):
    """A player (public id in hex), the token that says so, and the address it comes from."""

    player: str
    token: str
    address: str


def header(scope: Scope, name: bytes) -> str:
    """A header's value, empty where there is none."""
    found = (value for key, value in scope["headers"] if key.lower() == name)
    return str(next(found, b"").decode("latin-1"))


def admitted(scope: Scope) -> Asker:
    """Who opens a stream or a socket, counted by address and by player.

    Raises `ServiceError` not_authenticated, bad_token, too_many_requests, unavailable.
    """
    peer, _ = scope.get("client") or ("", 0)
    address = wire.address_of(peer, header(scope, b"x-forwarded-for")) or "unknown"
    throttle.spend("connect", address)
    token = wire.token_of(header(scope, b"authorization")) or _offered(scope)
    if token is None:
        raise ServiceError("not_authenticated")
    player = accounts.authenticate(token).id
    throttle.spend("connect", player)
    return Asker(player, token, address)


def _offered(scope: Scope) -> str | None:
    offers: Iterable[str] = scope.get("subprotocols", ())
    found = (one.removeprefix(TOKEN_PREFIX) for one in offers if one.startswith(TOKEN_PREFIX))
    return next(found, None)


def check_origin(scope: Scope) -> None:
    """Refuse a page of somebody else's with forbidden; a program names no origin.

    Pages of the server's own host, and those of `XQMJ_LIVE_ORIGINS`, are ours.
    """
    origin = header(scope, b"origin")
    if not origin or origin in settings.XQMJ_LIVE_ORIGINS:
        return
    host = header(scope, b"host")
    if not host or urlsplit(origin).netloc.lower() != host.lower():
        raise ServiceError("forbidden")


def no_query(scope: Scope) -> None:
    """Refuse a query where none is known."""
    if scope["query_string"]:
        raise ServiceError("unknown_parameter")


def after(scope: Scope) -> int | None:
    """The one parameter that there is, read as REST reads it; None where it is not given."""
    given = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    if any(name != "after" for name, _ in given):
        raise ServiceError("unknown_parameter")
    if not given:
        return None
    text, *more = [text for _, text in given]
    if more or not _NUMBER.fullmatch(text) or int(text) > LARGEST_SEQ:
        raise ServiceError("invalid_parameter")
    return int(text)
