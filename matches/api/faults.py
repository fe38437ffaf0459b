"""Whatever goes wrong in a request, as the refusal that the client gets.

One door: views raise, and the gate (or DRF's exception handler) asks here.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, cast

from django.core.exceptions import (
    DisallowedHost,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.http import Http404, HttpResponse
from django.http.request import UnreadablePostError
from rest_framework import exceptions as drf

from matches.api.problems import render
from matches.services.codes import TABLE
from matches.services.problems import Problem, expected

LOG = logging.getLogger("xqmj.api")


def _method(error: Exception) -> Problem:
    return Problem("method_not_allowed", headers=getattr(error, "headers", None))


def _unauthenticated(_error: Exception) -> Problem:
    return Problem("not_authenticated", headers={"WWW-Authenticate": "Bearer"})


def _api_exception(error: Exception) -> Problem:
    """DRF's own base: a view that names one of our codes by `default_code` is taken at its word."""
    named = cast("drf.APIException", error)
    if named.default_code in TABLE:
        return Problem(named.default_code, str(named.detail))
    return Problem("bad_request")


def _plain(code: str, **more: Any) -> Callable[[Exception], Problem]:
    return lambda _error: Problem(code, **more)


_ANSWERS: tuple[tuple[type[Exception], Callable[[Exception], Problem]], ...] = (
    (Http404, _plain("not_found")),
    (PermissionDenied, _plain("forbidden")),
    (DisallowedHost, _plain("bad_host")),
    (RequestDataTooBig, _plain("body_too_large")),
    (UnreadablePostError, _plain("body_incomplete")),
    (SuspiciousOperation, _plain("bad_request")),
    (drf.NotAuthenticated, _unauthenticated),
    (drf.AuthenticationFailed, _plain("bad_token", headers={"WWW-Authenticate": "Bearer"})),
    (drf.PermissionDenied, _plain("forbidden")),
    (drf.MethodNotAllowed, _method),
    (drf.NotAcceptable, _plain("not_acceptable")),
    (drf.UnsupportedMediaType, _plain("unsupported_media_type")),
    (drf.ParseError, _plain("malformed_json")),
    (drf.ValidationError, _plain("invalid_body")),
    (drf.APIException, _api_exception),
)
"""What each kind of error answers that no service means; the first that fits."""


def problem_of(error: Exception) -> Problem:
    """The refusal for an error; one that nobody expected is logged and says nothing of itself."""
    refusal = expected(error)
    if refusal is not None:
        return refusal
    for kind, answer in _ANSWERS:
        if isinstance(error, kind):
            return answer(error)
    LOG.error("a request failed", exc_info=error)
    return Problem("internal_error")


def handle(error: Exception, _context: Any = None) -> HttpResponse:
    """DRF's exception handler: every error of a view becomes a rendered refusal."""
    return render(problem_of(error))
