"""What Django itself answers when a page fails: the same problems, in JSON."""

from __future__ import annotations

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse

from matches.api.problems import render
from matches.services.problems import Problem


def bad_request(_request: HttpRequest, exception: Exception) -> HttpResponse:
    """A request that Django refuses as suspicious."""
    disallowed = isinstance(exception, DisallowedHost)
    return render(Problem("bad_host" if disallowed else "bad_request"))


def forbidden(_request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    """Something that may not be done."""
    return render(Problem("forbidden"))


def not_found(_request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    """An address without anything."""
    return render(Problem("not_found"))


def internal_error(_request: HttpRequest) -> HttpResponse:
    """Our mistake, which Django has logged."""
    return render(Problem("internal_error"))
