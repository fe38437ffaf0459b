"""What the views share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, Protocol, TypeVar

import msgspec
from django.http import HttpRequest, HttpResponse
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView

from matches.api.answers import JSON
from matches.api.drf import SCOPES, plain
from matches.api.identity import Caller, caller_of
from matches.api.requests import (
    address_of,
    idempotency_key,
    known_address_of,
    no_query,
    read_body,
    read_query,
    strangers_key,
)
from matches.services import idempotency, parsing
from matches.services.accounts import check_may_manage, check_may_play
from matches.services.keys import keyed_fingerprint, written
from matches.services.problems import Problem
from matches.services.throttling import name_of, throttle

T = TypeVar("T", bound=msgspec.Struct)
_READS = ("GET", "HEAD")


class ApiView(APIView):
    """An ordinary view: GET is a read, all else a write, both counted by account."""

    http_method_names = ["get", "head", "post"]  # noqa: RUF012 - as DRF declares it
    scopes: ClassVar[dict[str, str]] = SCOPES

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse a method that there is none of before asking who wants it."""
        if request.method not in self.allowed_methods:
            self.http_method_not_allowed(request)
        super().initial(request, *args, **kwargs)
        who: Any = request.user
        if request.method not in _READS and isinstance(who, Caller):
            self.check_may(who)

    @staticmethod
    def check_may(who: Caller) -> None:
        """Refuse a token whose scope allows no such write; raises `ServiceError` scope_forbids."""
        check_may_play(who)

    def read(self, request: Request, kind: type[T]) -> T:
        """The body as a value of the type."""
        return parsing.decode_as(kind, read_body(plain(request)))

    def query(self, request: Request, kind: type[T]) -> T:
        """The query as a value of the type."""
        return read_query(plain(request), kind)

    def http_method_not_allowed(
        self,
        request: HttpRequest | Request,  # noqa: ARG002 - DRF's signature
        *_args: Any,
        **_kwargs: Any,
    ) -> NoReturn:
        """Refuse with the methods that there are."""
        raise not_allowed(self.allowed_methods)


class AccountView(ApiView):
    """What somebody does with the own account, which takes a token of the scope `play`."""

    @staticmethod
    def check_may(who: Caller) -> None:
        """Refuse tokens that were made to play as a bot, or to read."""
        check_may_manage(who)

    def once(
        self, request: Request, body: msgspec.Struct, effect: Callable[[], tuple[int, bytes]]
    ) -> HttpResponse:
        """The answer of a write as it was given the first time; its body may hold a password."""
        no_query(plain(request))
        return once(
            request,
            body,
            effect,
            scope=idempotency.scope_of(player=caller(request).id, address=None),
            key=idempotency_key(plain(request)),
            by=keyed_fingerprint,
        )


class StrangersView(ApiView):
    """What somebody without a token may do: counted by address, and closed without counts."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    def once(
        self, request: Request, body: msgspec.Struct, effect: Callable[[], tuple[int, bytes]]
    ) -> HttpResponse:
        """The answer of a write as it was given the first time; its body may hold a password."""
        django = plain(request)
        no_query(django)
        return once(
            request,
            body,
            effect,
            scope=idempotency.scope_of(player=None, address=known_address_of(django)),
            key=strangers_key(django),
            by=keyed_fingerprint,
        )


class Fingerprint(Protocol):
    """Tells a write from another one under the same key."""

    def __call__(self, path: str, body: bytes, *, method: str) -> int:
        """The fingerprint."""
        ...


def once(
    request: Request,
    body: msgspec.Struct,
    effect: Callable[[], tuple[int, bytes]],
    *,
    scope: str,
    key: str,
    by: Fingerprint,
) -> HttpResponse:
    """The answer of a write that is no command of a match, as it was given the first time."""
    done = idempotency.once(
        scope=scope,
        key=key,
        fingerprint=by(request.path_info, written(body), method=str(request.method)),
        effect=effect,
    )
    return HttpResponse(done.body, status=done.status, content_type=JSON)


def count_mail(request: Request, email: str) -> None:
    """Count a mail that the request causes, by its address and by the mailbox.

    Raises `ServiceError` too_many_requests, throttle_unavailable.
    """
    throttle.spend("mail", address_of(plain(request)))
    throttle.spend("mail", name_of(email.casefold()))


def not_allowed(methods: list[str]) -> Problem:
    """The refusal of a method."""
    return Problem("method_not_allowed", headers={"Allow": ", ".join(sorted(methods))})


def caller(request: Request) -> Caller:
    """Who asks; raises `Problem` where nobody known does."""
    return caller_of(plain(request))
