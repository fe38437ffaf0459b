"""Who asks: the bearer token of a request."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication

from matches.services import accounts, wire
from matches.services.accounts import Identity
from matches.services.errors import ServiceError
from matches.services.problems import Problem

_CHALLENGE = {"WWW-Authenticate": wire.SCHEME}


class Caller(Identity, frozen=True):
    """Whoever a token speaks for, as DRF knows users."""

    @property
    def is_authenticated(self) -> bool:
        """Always: nobody known is no caller."""
        return True


def bearer(request: HttpRequest) -> str | None:
    """The token that the request carries, None where it carries none; `Problem` bad_token."""
    try:
        return wire.token_of(request.META.get("HTTP_AUTHORIZATION", ""))
    except ServiceError:
        raise Problem("bad_token", headers=_CHALLENGE) from None


def caller_of(request: HttpRequest) -> Caller:
    """Who asks; raises `Problem` not_authenticated or bad_token, `ServiceError` unavailable."""
    token = bearer(request)
    if token is None:
        raise Problem("not_authenticated", headers=_CHALLENGE)
    return caller_by(token)


def caller_by(token: str) -> Caller:
    """Whom the token speaks for; raises as `caller_of` does."""
    try:
        found = accounts.authenticate(token)
    except ServiceError as error:
        if error.code != "bad_token":
            raise
        raise Problem("bad_token", headers=_CHALLENGE) from None
    return Caller(found.id, found.kind, found.username, found.scope)


class BearerAuthentication(BaseAuthentication):
    """DRF's door to `caller_of`: no token is nobody, a bad one is refused."""

    def authenticate(self, request: Any) -> tuple[Caller, str] | None:
        """The caller and its token."""
        token = bearer(request._request)  # noqa: SLF001 - DRF has no public name for it
        return None if token is None else (caller_by(token), token)

    def authenticate_header(self, request: Any) -> str:  # noqa: ARG002 - DRF's signature
        """What a client without a token is told to bring."""
        return wire.SCHEME
