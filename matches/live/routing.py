"""The addresses of the live process."""

from __future__ import annotations

from typing import Any

from channels.consumer import AsyncConsumer
from channels.routing import URLRouter
from django.urls import path, re_path

from matches.live.streams import Health, MatchStream, Nothing
from matches.services.wire import ID_PATTERN

PREFIX = "live/v1"


def _routed(consumer: type[AsyncConsumer]) -> Any:
    # Channels hands out ASGI applications where Django's path() expects views.
    return consumer.as_asgi()


application = URLRouter(
    [
        path(f"{PREFIX}/health", _routed(Health)),
        re_path(rf"^{PREFIX}/matches/(?P<match_id>{ID_PATTERN})/events$", _routed(MatchStream)),
        re_path(r"", _routed(Nothing)),
    ]
)
"""Everything below /live/v1/; all else is 404."""


async def refuse_socket(_scope: Any, receive: Any, send: Any) -> None:
    """Close a WebSocket before it opens: the client gets 403."""
    await receive()
    await send({"type": "websocket.close"})
