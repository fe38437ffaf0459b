"""Matches of a kind that is not made any more: one seat is kept for a player by the first event."""

from __future__ import annotations

from uuid import UUID

import msgspec

from matches.services import execute
from matches.services.drafts import Terms, draft


def keeping(maker: str, invited: str, *, rated: bool = False) -> UUID:
    """A new match of one player (public ids in hex) that keeps its other seat for another."""
    drafted = draft(Terms(ruleset="xqmj-32-2p", control="3+2", rated=rated), players=(maker,))
    created = msgspec.structs.replace(drafted.created, invited=invited)
    drafted = msgspec.structs.replace(drafted, created=created)
    return execute.create(drafted, creator=maker, key=None).entry.match_id
