"""What a match is to be like, and its first event made from that."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from uuid import UUID

import msgspec

from matches.domain import match as domain
from matches.domain.deal import SECRET_BYTES
from matches.domain.events import MatchCreated
from matches.eventstore import ids, sealing
from matches.games.protocol import Seat
from matches.games.registry import rules_for


class Rematch(msgspec.Struct, frozen=True):
    """What a rematch follows (the id of a match, in hex), and the seat that deals first in it."""

    of: str
    first_dealer: Seat


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """How it is played; options that are not given take their usual values."""

    ruleset: str
    control: str
    rules_version: int = 1
    options: Mapping[str, str | int | bool] = {}
    rated: bool = False
    rematch: Rematch | None = None


class Draft(msgspec.Struct, frozen=True):
    """A match that is not made yet: its id, first event, and the secret sealed in that."""

    match_id: UUID
    created: MatchCreated
    secret: bytes


def draft(
    terms: Terms,
    *,
    players: tuple[str, ...],
    invited: str | None = None,
    match_id: UUID | None = None,
) -> Draft:
    """A match of these terms with these players (ids in hex) in the first seats.

    Raises `Rejected`: unknown_ruleset, unknown_option, bad_option,
    unknown_control, unrated_control, already_seated.
    """
    match_id = ids.new_match_id() if match_id is None else match_id
    secret = secrets.token_bytes(SECRET_BYTES)
    sealed, key_id = sealing.seal(secret, match_id)
    rules = rules_for(terms.ruleset, version=terms.rules_version, options=terms.options)
    created = domain.create(
        ruleset=terms.ruleset,
        rules_version=terms.rules_version,
        options=dict(rules.options),
        control=terms.control,
        rated=terms.rated,
        players=(*players, *(None,) * (rules.seats - len(players))),
        invited=invited,
        secret=secret,
        sealed=sealed,
        key_id=key_id,
        rematch_of=None if terms.rematch is None else terms.rematch.of,
        first_dealer=None if terms.rematch is None else terms.rematch.first_dealer,
    )
    return Draft(match_id, created, secret)
