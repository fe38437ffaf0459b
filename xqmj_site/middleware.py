"""Headers that every answer carries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

HEADER = "Content-Security-Policy"

Handler = Callable[[HttpRequest], HttpResponseBase]
AsyncHandler = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


def policy() -> str:
    """Return the header's value: what `XQMJ_CONTENT_SECURITY_POLICY` lists."""
    return "; ".join(
        " ".join([directive, *sources])
        for directive, sources in settings.XQMJ_CONTENT_SECURITY_POLICY.items()
    )


@sync_and_async_middleware
def content_security_policy(get_response: Handler | AsyncHandler) -> Handler | AsyncHandler:
    """Say what a browser may load for our pages: our own origin, and nothing inline.

    A view that needs another policy sets the header itself.
    """
    value = policy()

    async def answer_async(request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = await get_response(request)  # type: ignore[misc]
        response.headers.setdefault(HEADER, value)
        return response

    def answer(request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = get_response(request)  # type: ignore[assignment]
        response.headers.setdefault(HEADER, value)
        return response

    return answer_async if iscoroutinefunction(get_response) else answer
