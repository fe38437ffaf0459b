"""The addresses of the live process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from channels.consumer import AsyncConsumer
from channels.routing import ProtocolTypeRouter, URLRouter
from django.urls import path, re_path

from matches.live.sockets import lobby_socket, match_socket, my_socket, no_socket
from matches.live.streams import Chunked, Health, LobbyStream, MatchStream, MyStream, Nothing
from matches.services.wire import ID_PATTERN

PREFIX = "live/v1"


def _routed(consumer: type[AsyncConsumer]) -> Any:
    # Channels hands out ASGI applications where Django's path() expects views.
    return _unread(consumer.as_asgi())


def _unread(application: Any) -> Any:
    """The application, told of an empty body: none means anything here.

    One that never ends would keep the answer back. A chunked one is refused as
    by REST: where it is malformed, the server takes the client for gone.
    """
    chunked = Chunked.as_asgi()

    async def served(scope: Any, receive: Any, send: Any) -> None:
        is_chunked = any(name == b"transfer-encoding" for name, _ in scope["headers"])
        messages = _without_body(receive)
        await (chunked if is_chunked else application)(scope, messages.__anext__, send)

    return served


async def _without_body(receive: Any) -> AsyncIterator[dict[str, Any]]:
    """That there is no body, and when the client has gone."""
    yield {"type": "http.request", "body": b"", "more_body": False}
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            yield message


_ME, _LOBBY = f"{PREFIX}/me", f"{PREFIX}/lobby"
_MATCH = rf"^{PREFIX}/matches/(?P<match_id>{ID_PATTERN})/events$"

streams = URLRouter(
    [
        path(f"{PREFIX}/health", _routed(Health)),
        re_path(_MATCH, _routed(MatchStream)),
        path(_ME, _routed(MyStream)),
        path(_LOBBY, _routed(LobbyStream)),
        re_path(r"", _routed(Nothing)),
    ]
)
"""Everything below /live/v1/ over HTTP; all else is 404."""

# Channels hands out ASGI applications where Django's path() expects views.
_match_socket: Any = match_socket
_my_socket: Any = my_socket
_lobby_socket: Any = lobby_socket
_no_socket: Any = no_socket

sockets = URLRouter(
    [
        re_path(_MATCH, _match_socket),
        path(_ME, _my_socket),
        path(_LOBBY, _lobby_socket),
        re_path(r"", _no_socket),
    ]
)
"""The same addresses for WebSockets; all else is 4404."""

application = ProtocolTypeRouter({"http": streams, "websocket": sockets})
