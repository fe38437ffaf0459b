"""Tokens that somebody makes by hand: named, of a scope, and listed with those of log-ins.

Whoever is shown a token's id cannot use it: the id is the beginning of the hash
under which the token is stored.
"""

from __future__ import annotations

from typing import Any, Literal, cast

import msgspec
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from knox.models import AuthToken

from matches.models import Player, TokenScope
from matches.services import accounts, tokens
from matches.services.accounts import Identity
from matches.services.errors import ServiceError

Scope = Literal["play", "bot", "read"]
"""What a token may do: everything, what a bot plays by, or nothing but read."""

AT_ONCE = 50
"""So many tokens of a player may be good at a time, made by hand or not."""
NAME_LENGTH = 40
ID_LENGTH = 32


class Grant(msgspec.Struct, frozen=True):
    """A token as its owner sees it in a list; instants in ms, `expires_at_ms` None: never."""

    id: str
    digest: str
    name: str | None
    scope: Scope
    created_at_ms: int
    expires_at_ms: int | None


def grant(*, who: Identity, name: str, scope: Scope, days: int) -> tuple[str, Grant]:
    """A new token, and how it is listed; for a transaction with the key of the request.

    Raises `ServiceError` bad_token_name, bot_needed, too_many_tokens.
    """
    if not 1 <= len(name.strip()) <= NAME_LENGTH or not name.isprintable():
        raise ServiceError("bad_token_name")
    # Whoever asks twice at once is counted once at a time.
    player = Player.objects.select_for_update(no_key=True).get(public_id=who.id)
    if scope == "bot" and player.kind != Player.Kind.BOT:
        raise ServiceError("bot_needed")
    if _good().filter(user=player).count() >= AT_ONCE:
        raise ServiceError("too_many_tokens")
    stored, token = accounts.stored_token(player, days=days)
    TokenScope.objects.create(token=stored, name=name.strip(), scope=scope)
    return token, _shown(stored)


def mine(player: str) -> list[Grant]:
    """The good tokens of a player (id in hex), the newest first."""
    found = _good().filter(user__public_id=player).select_related("named")
    return [_shown(one) for one in found.order_by("-created", "digest")]


def revoke(*, who: Identity, token_id: str) -> None:
    """Revoke one of one's own tokens, in a transaction; raises `ServiceError` unknown_token."""
    own = AuthToken.objects.filter(user__public_id=who.id, digest__startswith=token_id)
    digest = own.values_list("digest", flat=True).first()
    if digest is None:
        raise ServiceError("unknown_token")
    own.delete()
    transaction.on_commit(lambda: tokens.revoked(digest))


def revoke_others(*, who: Identity, digest: str) -> None:
    """Revoke every token of one's own but that of the digest, in a transaction."""
    accounts.revoke_all(Player.objects.get(public_id=who.id), but=digest)


def _good() -> Any:
    return AuthToken.objects.filter(Q(expiry=None) | Q(expiry__gt=Now()))


def _shown(stored: AuthToken) -> Grant:
    named: TokenScope | None = getattr(stored, "named", None)
    return Grant(
        id=stored.digest[:ID_LENGTH],
        digest=stored.digest,
        name=None if named is None else named.name,
        scope="play" if named is None else cast("Scope", named.scope),
        created_at_ms=round(stored.created.timestamp() * 1000),
        expires_at_ms=None if stored.expiry is None else round(stored.expiry.timestamp() * 1000),
    )
