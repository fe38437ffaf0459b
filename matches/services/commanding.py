"""From what a client wrote to what a match did: one way for REST and for sockets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import UUID

from matches.domain import commands
from matches.services import execute, matches, parsing
from matches.services.bodies import Body, NoBody, ReadyBody, act_body
from matches.services.keys import command_key, written
from matches.services.shown import CommandAnswer


class Verb(NamedTuple):
    """A command: what its body may be, and what the match is told.

    The body of None is an action of the match's own game.
    """

    body: type[Body] | None
    command: Callable[[Any], commands.Body]


VERBS: Mapping[str, Verb] = MappingProxyType(
    {
        "act": Verb(None, lambda body: commands.Act(action=body.action)),
        # What the claim rests on is not the client's to say.
        "claim-absence": Verb(NoBody, lambda _: commands.ClaimAbsence(seen_ms=0)),
        "join": Verb(NoBody, lambda _: commands.Join()),
        "leave": Verb(NoBody, lambda _: commands.Leave()),
        "ready": Verb(ReadyBody, lambda body: commands.Ready(nonce=body.nonce)),
        "resign": Verb(NoBody, lambda _: commands.Resign()),
    }
)
"""By the last word of the address."""


def perform(*, match_id: UUID, player: str, verb: str, key: str, value: Any) -> CommandAnswer:
    """Let a player (public id in hex) command something; `value` is the decoded body.

    `key` is the player's own name for the request, for ever: whatever way it comes
    again, it answers the same. Raises `Problem` invalid_body or unknown_field, and
    `ServiceError` as `execute.execute`.
    """
    kind, command = VERBS[verb]
    if kind is None:
        kind = act_body(execute.action_of(match_id, player))
    body = parsing.convert(kind, value)
    path = f"/api/v1/matches/{match_id.hex}/{verb}"
    done = execute.execute(
        match_id=match_id,
        player=player,
        body=command(body),
        key=command_key(player=player, key=key, path=path, body=written(body)),
        expected_seq=getattr(body, "expected_seq", None),
    )
    caused = matches.result(done, player)
    return CommandAnswer(caused.seq, caused.events, matches.now(done.entry))
