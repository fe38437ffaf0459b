"""What the tests of the API share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest

from matches.domain import deal
from tests.support import ahead, wsgi
from tests.support.ahead import AheadStore
from tests.support.servers import Servers
from tests.support.serving import Serving, serving

PAGE = "https://pages.example"
"""An origin whose pages may open sockets."""


@pytest.fixture
def clock() -> Iterator[AheadStore]:
    """A clock that the test sets ahead."""
    with ahead.clock() as found:
        yield found


@pytest.fixture
def rigged(monkeypatch: pytest.MonkeyPatch) -> Callable[[tuple[str, ...]], None]:
    """Make seat 0 the first dealer and every hand's tiles lie in this order."""

    def rig(order: tuple[str, ...]) -> None:
        monkeypatch.setattr(deal, "first_dealer", lambda *_args: 0)
        monkeypatch.setattr(deal, "order", lambda *_args: order)

    return rig


@pytest.fixture(scope="module")
def live(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """The live role as it runs in production."""
    with serving(
        "live",
        servers=servers,
        folder=tmp_path_factory.mktemp("live"),
        health="/live/v1/health",
        XQMJ_LIVE_ORIGINS=PAGE,
    ) as found:
        yield found


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        pass


@pytest.fixture
def address() -> Iterator[str]:
    """A server in threads of this process, so that its clock can be set ahead."""
    with make_server(
        "127.0.0.1", 0, wsgi.application(), server_class=_Server, handler_class=_Quiet
    ) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
