"""DRF's doors to our own negotiation and throttling, as the settings name them.

Nothing here may import DRF's views, which import these in turn.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import JSONRenderer
from rest_framework.throttling import BaseThrottle

from matches.api.identity import Caller
from matches.api.requests import address_of, check_accept
from matches.services.throttling import throttle

SCOPES: dict[str, str] = {
    "GET": "read",
    "HEAD": "read",
    "POST": "write",
    "PATCH": "write",
    "DELETE": "write",
}
"""The scopes of a view that names no others."""


def plain(request: Any) -> HttpRequest:
    """Django's request inside DRF's."""
    found: HttpRequest = request._request  # noqa: SLF001 - DRF has no public name for it
    return found


class JsonOnly(BaseContentNegotiation):
    """There is one form of answer; a client that does not take it is told so."""

    def select_renderer(
        self,
        request: Any,
        renderers: Any,
        format_suffix: Any = None,  # noqa: ARG002
    ) -> tuple[Any, str]:
        """The one renderer; raises `Problem` not_acceptable."""
        check_accept(plain(request))
        return renderers[0], str(renderers[0].media_type)


class JsonBody(BaseParser):
    """What bodies are, for the schema. It parses nothing: views read by `services.parsing`."""

    media_type = "application/json"


class PlainJSONRenderer(JSONRenderer):
    """JSON in UTF-8 and nothing else: no indentation by parameter, no charset."""

    def get_indent(self, accepted_media_type: Any, renderer_context: Any) -> None:
        """Never any: what Accept asks for beyond the type changes no byte."""


class ScopeThrottle(BaseThrottle):
    """DRF's door to the throttle: by the view's `scopes`, for the account or else the address."""

    def allow_request(self, request: Any, view: Any) -> bool:
        """Count the request; raises `ServiceError` too_many_requests or throttle_unavailable."""
        scopes: dict[str, str] = getattr(view, "scopes", SCOPES)
        scope = scopes.get(request.method)
        if scope is not None:
            player = request.user
            who = player.id if isinstance(player, Caller) else address_of(plain(request))
            throttle.spend(scope, who)
        return True
