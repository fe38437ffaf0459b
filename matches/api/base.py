"""What the views share."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, TypeVar

import msgspec
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.views import APIView

from matches.api.drf import SCOPES, plain
from matches.api.identity import Caller, caller_of
from matches.api.requests import read_body, read_query
from matches.services import parsing
from matches.services.problems import Problem

T = TypeVar("T", bound=msgspec.Struct)


class ApiView(APIView):
    """An ordinary view: GET is a read, all else a write, both counted by account."""

    http_method_names = ["get", "head", "post"]  # noqa: RUF012 - as DRF declares it
    scopes: ClassVar[dict[str, str]] = SCOPES

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse a method that there is none of before asking who wants it."""
        if request.method not in self.allowed_methods:
            self.http_method_not_allowed(request)
        super().initial(request, *args, **kwargs)

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


def not_allowed(methods: list[str]) -> Problem:
    """The refusal of a method."""
    return Problem("method_not_allowed", headers={"Allow": ", ".join(sorted(methods))})


def caller(request: Request) -> Caller:
    """Who asks; raises `Problem` where nobody known does."""
    return caller_of(plain(request))
