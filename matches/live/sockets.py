"""A match over a WebSocket: the lines of its stream, and its commands.

What is sent comes from where the stream's lines come from, and a command goes
the way of REST's: the same decoding, limits, key and answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any
from uuid import UUID

import msgspec

from matches.domain.visibility import Line
from matches.live import asking, following, kinds
from matches.live.asking import Asker, Scope
from matches.live.boards import Boards, Said
from matches.live.connections import (
    ENDED,
    Closed,
    Connection,
    Receive,
    Refusal,
    Send,
    close_code,
    refusal_of,
)
from matches.live.places import place
from matches.live.threads import in_thread
from matches.services import accounts, keys, parsing
from matches.services.commanding import VERBS, perform
from matches.services.errors import ServiceError
from matches.services.matches import Events
from matches.services.problems import Problem, expected
from matches.services.shown import CommandAnswer, MatchAnswer, match_answer
from matches.services.throttling import throttle
from matches.services.viewers import viewer_of

LOG = logging.getLogger("xqmj.live")

LONGEST_ID = 64

Served = Callable[[Connection, Scope], Awaitable[None]]


class Frame(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command of a client: its key, its verb, and the body that REST takes."""

    id: str
    command: str
    body: dict[str, Any] = {}


class Snapshot(msgspec.Struct, frozen=True):
    """The match as it stands; the lines after `seq` of it follow."""

    snapshot: MatchAnswer


class Done(msgspec.Struct, frozen=True):
    """What a command was answered."""

    id: str
    answer: CommandAnswer


async def match_socket(scope: Scope, receive: Receive, send: Send) -> None:
    """One viewer's match: its lines, and where the viewer sits, its commands."""
    await serve(_match, scope, receive, send)


async def my_socket(scope: Scope, receive: Receive, send: Send) -> None:
    """What concerns a player: all of it, then what changes."""
    await serve(_mine, scope, receive, send)


async def lobby_socket(scope: Scope, receive: Receive, send: Send) -> None:
    """The open seeks: all of them, then what changes."""
    await serve(_lobby, scope, receive, send)


async def no_socket(scope: Scope, receive: Receive, send: Send) -> None:
    """Whatever is not an address of this process."""

    async def refuse(_connection: Connection, _scope: Scope) -> None:
        raise ServiceError("not_found")

    await serve(refuse, scope, receive, send)


async def serve(served: Served, scope: Scope, receive: Receive, send: Send) -> None:
    """Open a socket, serve it, and end it with a code that says why."""
    connection = Connection(scope, receive, send)
    code: int | None = ENDED
    try:
        await connection.accept()
        try:
            await served(connection, scope)
        except Exception as error:
            if isinstance(error, Closed):
                raise
            problem = _problem(error)
            code = close_code(problem)
            await connection.tell_value(refusal_of(problem))
    except Closed as closed:
        code = closed.code
    if code is not None:
        try:
            await connection.close(code)
        except Closed:
            LOG.debug("a client took no goodbye")


async def _match(connection: Connection, scope: Scope) -> None:
    asking.check_origin(scope)
    after = asking.after(scope)
    asker = await asyncio.to_thread(asking.admitted, scope)
    match_id = UUID(scope["url_route"]["kwargs"]["match_id"])
    with place(asker.player), following.woken_by(match_id) as woken:
        found = await _begun(connection, match_id, asker, after)
        busy = asyncio.Lock()
        await _first_of(
            _tell(connection, found, asker, woken, busy), _hear(connection, match_id, asker, busy)
        )


async def _mine(connection: Connection, scope: Scope) -> None:
    await _board(connection, scope, kinds.personal, None)


async def _lobby(connection: Connection, scope: Scope) -> None:
    await _board(connection, scope, kinds.lobby, kinds.LOBBY)


async def _board(connection: Connection, scope: Scope, boards: Boards, name: str | None) -> None:
    """Tell of a board; without a name it is the player's own."""
    asking.check_origin(scope)
    asking.no_query(scope)
    asker = await asyncio.to_thread(asking.admitted, scope)

    async def send(said: tuple[Said, ...]) -> None:
        await _tell_lines(connection, said)

    with place(asker.player):
        told = boards.follow(asker, asker.player if name is None else name, send)
        await _first_of(told, _deaf(connection))


async def _deaf(connection: Connection) -> None:
    """Refuse whatever is said where nothing is asked for."""
    async for _ in connection.frames():
        await connection.tell_value(refusal_of(Problem("method_not_allowed")))


async def _begun(connection: Connection, match_id: UUID, asker: Asker, after: int | None) -> Events:
    """Send a snapshot, or the lines after the last that the client has."""
    found = await following.begin(match_id, asker, after or 0)
    if after is None:
        entry = found.entry
        viewer = viewer_of(entry.match, asker.player)
        await connection.tell_value(Snapshot(await in_thread(match_answer, entry, viewer)))
    else:
        await _tell_lines(connection, found.events)
    return found


async def _tell(
    connection: Connection, found: Events, asker: Asker, woken: asyncio.Event, busy: asyncio.Lock
) -> None:
    async def send(lines: tuple[Line, ...]) -> None:
        await _tell_lines(connection, lines)

    await following.follow(found, asker, woken, send)
    # A command that ended the match is answered before the goodbye.
    async with busy:
        pass


async def _tell_lines(connection: Connection, lines: tuple[msgspec.Struct, ...]) -> None:
    if not lines:
        await connection.tell("")
    for line in lines:
        await connection.tell_value(line)


async def _hear(connection: Connection, match_id: UUID, asker: Asker, busy: asyncio.Lock) -> None:
    async for text in connection.frames():
        async with busy:
            answer = await in_thread(_answered, match_id, asker, text)
            await connection.tell_value(answer)


def _answered(match_id: UUID, asker: Asker, text: str) -> Done | Refusal:
    """What a command is answered; raises `ServiceError` bad_token."""
    who = accounts.authenticate(asker.token)
    command_id = None
    try:
        throttle.spend("address", asker.address)
        throttle.spend("play", asker.player)
        value = parsing.decode(text.encode("utf-8", "surrogatepass"))
        command_id = _id_of(value)
        frame = parsing.convert(Frame, value)
        if frame.command not in VERBS:
            raise Problem("invalid_body", f"There is no command {frame.command!r}.")
        accounts.check_may_play(who)
        answer = perform(
            match_id=match_id,
            player=asker.player,
            verb=frame.command,
            key=keys.checked(frame.id),
            value=frame.body,
        )
    except Exception as error:
        return refusal_of(_problem(error), command_id)
    return Done(frame.id, answer)


def _id_of(value: Any) -> str | None:
    found = value.get("id") if isinstance(value, dict) else None
    return found if isinstance(found, str) and len(found) <= LONGEST_ID else None


def _problem(error: Exception) -> Problem:
    found = expected(error)
    if found is None:
        LOG.error("a socket failed", exc_info=error)
        found = Problem("internal_error")
    return found


async def _first_of(*work: Coroutine[Any, Any, None]) -> None:
    """Do all until one ends or fails, then none of them."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()
