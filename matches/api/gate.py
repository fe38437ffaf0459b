"""The way into the API: everything under /api/ goes through here and skips the pages' middleware.

Sessions, CSRF, messages and redirects are for pages; a request that carries
its own token needs none of them, and a move should not pay for them.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase, ResponseHeaders
from django.urls import resolve
from structlog.contextvars import bind_contextvars, reset_contextvars

from matches.api.answers import Told
from matches.api.faults import handle
from matches.api.requests import address_of, check_line
from matches.services.throttling import throttle

LOG = logging.getLogger("xqmj.api")

ROOT = "/api/"
UNCOUNTED = ("/api/v1/health", "/api/v1/readiness")
"""What watches the server is not throttled."""

_HEADERS = {
    "Cache-Control": "private, no-store",
    "Vary": "Authorization",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}

Answer = HttpResponseBase | Told
View = Callable[[HttpRequest], Answer]

FAULT = 500
"""From this status on an answer says that we failed, which the log has to know."""
_BODILESS = frozenset({204, 304})


_resolved = lru_cache(maxsize=2048)(resolve)
"""Where an address leads: the moves of a match all go to one."""


class ApiGate:
    """Middleware, and the first of them: answers what begins with /api/, passes on the rest."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The answer, whether it is the API's or a page's."""
        if not request.path_info.startswith(ROOT):
            return self._get_response(request)
        answer, headers = answered(request, _viewed)
        response = HttpResponse(answer.content) if isinstance(answer, Told) else answer
        response.headers = ResponseHeaders(headers)
        # Django would write a second line about a failure, without the request's id.
        response._has_been_logged = True  # type: ignore[attr-defined]  # noqa: SLF001 - Django's own mark
        return response


def answered(request: HttpRequest, view: View) -> tuple[Answer, dict[str, str]]:
    """The answer of the view or a refusal, and the headers that it is sent with; never raises."""
    request_id = f"{random.getrandbits(64):016x}"
    bound = bind_contextvars(request_id=request_id)
    try:
        response = _answered(request, view)
        if response.status_code >= FAULT:
            LOG.error("%s: %s", response.reason_phrase, request.path)
    finally:
        reset_contextvars(**bound)
    headers = _headers(request, response)
    headers["X-Request-Id"] = request_id
    if request.method == "HEAD" and isinstance(response, HttpResponse):
        response.content = b""
    return response, headers


def _answered(request: HttpRequest, view: View) -> Answer:
    try:
        check_line(request)
        if request.path_info not in UNCOUNTED:
            throttle.spend("address", address_of(request))
        return view(request)
    except Exception as error:
        return handle(error)


def _viewed(request: HttpRequest) -> Answer:
    found = _resolved(request.path_info)
    request.resolver_match = found
    response: Any = found.func(request, *found.args, **found.kwargs)
    if not getattr(response, "is_rendered", True):
        response.render()
    return response  # type: ignore[no-any-return]


def _headers(request: HttpRequest, response: Answer) -> dict[str, str]:
    headers = _HEADERS | dict(response.items())
    if settings.SECURE_HSTS_SECONDS and request.is_secure():
        headers["Strict-Transport-Security"] = _hsts()
    if response.status_code in _BODILESS:
        headers.pop("Content-Type", None)
    elif isinstance(response, HttpResponse | Told):
        headers["Content-Length"] = str(len(response.content))
    return headers


def _hsts() -> str:
    text = f"max-age={settings.SECURE_HSTS_SECONDS}"
    if settings.SECURE_HSTS_INCLUDE_SUBDOMAINS:
        text += "; includeSubDomains"
    return text + "; preload" if settings.SECURE_HSTS_PRELOAD else text
