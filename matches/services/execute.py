"""This process's engine, and the verbs that the rest of the server uses."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from uuid import UUID

from django.conf import settings

from matches.domain.commands import Body, ClaimAbsence, Join
from matches.eventstore import store
from matches.eventstore.rows import CommandKey
from matches.services import absence, bot_accounts, cooldown, heartbeat, notices, people
from matches.services.cache import Cache, Entry
from matches.services.drafts import Draft
from matches.services.engine import Engine, Executed, Prepare
from matches.services.errors import ServiceError
from matches.services.viewers import viewer_of

_FREELY = nullcontext()
_engine: Engine | None = None
_making = threading.Lock()


def engine() -> Engine:
    """The engine of this process, made at first use (so after a fork)."""
    global _engine  # noqa: PLW0603 - one a process is the point
    if _engine is None:
        with _making:
            if _engine is None:
                _engine = Engine(
                    store=store,
                    cache=Cache(settings.XQMJ_CACHE_MATCHES),
                    may_beat=settings.XQMJ_IS_WEB,
                    committed=notices.committed,
                )
    return _engine


def execute(
    *,
    match_id: UUID,
    player: str,
    body: Body,
    key: CommandKey | None = None,
    expected_seq: int | None = None,
) -> Executed:
    """Let a player (public id in hex) command something.

    Returns after the commit. `key` names the request for ever, `expected_seq` is
    the last line the player has seen. Raises `ServiceError`; see `Engine.execute`,
    and rated_needs_accounts for a guest who would join a rated match. What a claim
    of absence rests on is looked up here.
    """
    heartbeat.ensure()
    place: AbstractContextManager[bool | None] = (
        bot_accounts.places((player,), match_id=match_id) if type(body) is Join else _FREELY
    )
    with place as is_full:
        return engine().execute(
            match_id=match_id,
            player=player,
            body=body,
            key=key,
            expected_seq=expected_seq,
            prepare=_refuse_full if is_full else _PREPARED.get(type(body)),
            hold_ms=absence.HOLD_MS if isinstance(body, ClaimAbsence) else 0,
        )


def create(drafted: Draft, *, creator: str, key: CommandKey | None) -> Executed:
    """Make a drafted match; a repeated `key`, or the same id, gives the one that was made.

    Raises `ServiceError`: rated_needs_accounts, already_playing, bot_busy,
    key_reused, unavailable.
    """
    players = [player for player in drafted.created.players if player is not None]
    try:
        if drafted.created.rated:
            known = people.anew(players)
            check_may_be_rated(*(known.get(player) for player in players))
        with bot_accounts.places(players, match_id=drafted.match_id) as is_full:
            if is_full:
                raise ServiceError("bot_busy")
            return engine().create(
                creator=creator,
                key=key,
                match_id=drafted.match_id,
                created=drafted.created,
                secret=drafted.secret,
            )
    except ServiceError as refusal:
        if refusal.code not in ("rated_needs_accounts", "bot_busy") or key is None:
            raise
        made = engine().created_before(creator=creator, key=key)
        if made is None:
            raise
        return made


def observe(*, match_id: UUID) -> Entry:
    """The match as it stands now, after the table did what it owes.

    Raises `ServiceError` unknown_match, unavailable, unreadable_match.
    """
    heartbeat.ensure()
    return engine().observe(match_id)


def action_of(match_id: UUID, player: str) -> Any:
    """The type of the actions of the match's game, for decoding; costs no trip where it is known.

    Raises `ServiceError` unknown_match, also where the player may not see the match.
    """
    entry = engine().cache.get(match_id)
    if entry is None:
        entry = engine().peek(match_id)
    viewer_of(entry.match, player)
    return entry.match.setup.rules.action


def _rated_join(entry: Entry, player: str) -> Body:
    if entry.match.setup.created.rated:
        check_may_be_rated(people.anew((player,)).get(player))
        cooldown.check(player, now_ms=entry.now_ms)
    return Join()


def _refuse_full(_entry: Entry, _player: str) -> Body:
    raise ServiceError("bot_busy")


_PREPARED: Mapping[type[Body], Prepare] = {Join: _rated_join, ClaimAbsence: absence.claim}


def check_may_be_rated(*players: people.PlayerRef | None) -> None:
    """Refuse with rated_needs_accounts unless all are registered (XM-72)."""
    if any(player is None or player.kind != "registered" for player in players):
        raise ServiceError("rated_needs_accounts")


def _forget() -> None:
    """After a fork: locks and folded matches are the parent's."""
    global _engine, _making
    _engine, _making = None, threading.Lock()


os.register_at_fork(after_in_child=_forget)
