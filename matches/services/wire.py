"""What the API and the live process read alike: ids in addresses, tokens in headers."""

from __future__ import annotations

from matches.services.errors import ServiceError

ID_PATTERN = "[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"
"""A UUID in lower case, as 32 hex digits (which is how we write them) or with its hyphens."""
SCHEME = "Bearer"


def token_of(authorization: str) -> str | None:
    """The token in an Authorization header, None in an empty one.

    Raises `ServiceError` bad_token for another scheme.

    >>> token_of("Bearer 0a1b")
    '0a1b'
    """
    if not authorization:
        return None
    scheme, space, token = authorization.partition(" ")
    if scheme != SCHEME or not space:
        raise ServiceError("bad_token")
    return token
