"""What the API and the live process read alike: ids in paths, tokens, clients' addresses."""

from __future__ import annotations

import ipaddress
from functools import lru_cache

from django.conf import settings

from matches.services.errors import ServiceError

ID_PATTERN = "[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"
"""A UUID in lower case, as 32 hex digits (which is how we write them) or with its hyphens."""
SCHEME = "Bearer"


def token_of(authorization: str) -> str | None:
    """The token in an Authorization header, None in an empty one.

    Schemes are of any case. Raises `ServiceError` bad_token for another one.

    >>> token_of("Bearer 0a1b")
    '0a1b'
    """
    if not authorization:
        return None
    scheme, space, token = authorization.partition(" ")
    if scheme.lower() != SCHEME.lower() or not space:
        raise ServiceError("bad_token")
    return token


def address_of(peer: str, forwarded: str) -> str | None:
    """The client's address, an IPv6 one as its /64; None where it cannot be told.

    A socket for both protocols shows an IPv4 client as `::ffff:192.0.2.1`, and that
    is 192.0.2.1: one /64 holds all of those.

    Only as many entries of X-Forwarded-For count, from the right, as there are
    proxies of ours in front (`XQMJ_NUM_PROXIES`): a client can write the rest.
    """
    proxies = settings.XQMJ_NUM_PROXIES
    if not proxies or not forwarded:
        return _counted(peer)
    hops = forwarded.split(",")
    return _counted(hops[-min(proxies, len(hops))].strip())


@lru_cache(maxsize=4096)
def _counted(address: str) -> str | None:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return None
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed), 64), strict=False))
