"""A network that a test can spoil: a loopback port in front of a server."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

T = TypeVar("T")

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Reach = Callable[[], Awaitable[Streams]]


class _Link:
    """A client's connection and the server's. `lost`: whatever is sent on it vanishes, for ever."""

    def __init__(self, client: asyncio.StreamWriter) -> None:
        self.client = client
        self.server: asyncio.StreamWriter | None = None
        self.lost = False

    def abort(self) -> None:
        """Reset both."""
        for writer in (self.client, self.server):
            if writer is not None:
                writer.transport.abort()


class Proxy:
    """Carries bytes between its clients and one server, as long as it is told to.

    `hole` swallows what is sent, on connections there are and on new ones, which
    are accepted: nobody is told anything, and no connection that lived through
    it works ever again. `cut` resets all connections and refuses new ones.
    `delay` holds back each piece. `heal` ends it, for new connections.
    """

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._holed = self._cut = False
        self._delay_s = 0.0
        self._links: set[_Link] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._call(self._listen)
        self.port: int = self._server.sockets[0].getsockname()[1]

    def hole(self) -> None:
        """Swallow everything from now on."""

        async def begin() -> None:
            self._holed = True
            for link in self._links:
                link.lost = True

        self._call(begin)

    def cut(self) -> None:
        """Reset every connection, and every new one."""

        async def begin() -> None:
            self._cut = True
            for link in list(self._links):
                link.abort()

        self._call(begin)

    def delay(self, seconds: float) -> None:
        """Hold every piece back for so long, in both directions."""
        self._delay_s = seconds

    def heal(self, *, found: bool = False) -> None:
        """Carry everything, on new connections at least.

        `found`: whoever waits on a connection that is lost is told, as by the
        answer to a keepalive, which cannot be lost here.
        """

        async def end() -> None:
            self._holed = self._cut = False
            self._delay_s = 0.0
            for link in self._links:
                if link.lost and link.server is not None:
                    # The server gives up on whom it does not hear; the client may never learn.
                    link.server.transport.abort()
                if link.lost and found:
                    link.client.transport.abort()

        self._call(end)

    def stop(self) -> None:
        """Let go of everybody."""

        async def end() -> None:
            self._server.close()
            for link in list(self._links):
                link.abort()
            await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))

        self._call(end)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(self, what: Callable[[], Awaitable[T]]) -> T:
        async def run() -> T:
            return await what()

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(10)

    async def _listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._carry, "127.0.0.1", 0)

    async def _carry(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        link = _Link(client)
        link.lost = self._holed
        self._links.add(link)
        try:
            if self._cut:
                return
            if link.lost:
                while await reader.read(65536):
                    pass
                return
            back, link.server = await self._reach()
            await asyncio.gather(
                self._pump(reader, link.server, link), self._pump(back, client, link)
            )
        except OSError:
            pass
        finally:
            link.abort()
            self._links.discard(link)

    async def _pump(
        self, source: asyncio.StreamReader, drain: asyncio.StreamWriter, link: _Link
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65536):
                if self._delay_s:
                    await asyncio.sleep(self._delay_s)
                if not link.lost:
                    drain.write(data)
                    await drain.drain()
        if not link.lost:
            link.abort()


@contextlib.contextmanager
def before_tcp(port: int) -> Iterator[Proxy]:
    """A proxy in front of a server on loopback."""
    proxy = Proxy(lambda: asyncio.open_connection("127.0.0.1", port))
    try:
        yield proxy
    finally:
        proxy.stop()


@contextlib.contextmanager
def before_socket(path: str) -> Iterator[Proxy]:
    """A proxy in front of a server that listens on a Unix socket."""
    proxy = Proxy(lambda: asyncio.open_unix_connection(path))
    try:
        yield proxy
    finally:
        proxy.stop()
