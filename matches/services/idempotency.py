"""Writes that are no commands of a match: done once, and answered the same while that matters.

A match's commands stand in its log and need none of this. Everything else (an
account, a token) keeps its answer, sealed since it may hold a token, in the
same transaction as what it did. An answer goes when a token in it must have
expired; its key is free then.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable

import msgspec
from django.db import IntegrityError, transaction
from django.utils.crypto import salted_hmac

from matches.eventstore import sealing
from matches.eventstore.sealing import SealBroken
from matches.models import WriteKey
from matches.services.errors import ServiceError, unavailable

LOG = logging.getLogger("xqmj.services")


class Answer(msgspec.Struct, frozen=True):
    """An HTTP status and the bytes of a body; `replayed`: as it was given before."""

    status: int
    body: bytes
    replayed: bool = False


def scope_of(*, player: str | None, address: str | None) -> str:
    """Who asks: a player (public id in hex), or whoever comes from an address, which is not kept.

    Of an unknown address (None) every request is somebody else's: none of them
    is answered with what another was given.

    >>> scope_of(player="0199", address="192.0.2.1")
    'player:0199'
    """
    if player is not None:
        return f"player:{player}"
    if address is None:
        return f"anon:{secrets.token_hex(16)}"
    hidden = salted_hmac("xqmj.idempotency", address, algorithm="sha256").hexdigest()
    return f"anon:{hidden[:32]}"


def once(
    *, scope: str, key: str, fingerprint: int, effect: Callable[[], tuple[int, bytes]]
) -> Answer:
    """Do `effect` unless this key has been answered before; gives the answer of the first time.

    `effect` returns status and body and runs in a transaction with its key. If
    it raises, nothing was done and the key is free again. Raises `ServiceError`
    key_reused for another fingerprint, answer_expired where the answer of the
    first time cannot be opened any more.
    """
    answered = _answered(scope, key, fingerprint)
    if answered is not None:
        return answered
    try:
        with transaction.atomic():
            row = WriteKey.objects.create(scope=scope, key=key, fingerprint=fingerprint)
            status, body = effect()
            row.status = status
            row.answer = sealing.seal_bytes(body, aad=_aad(scope, key))
            row.save(update_fields=["status", "answer"])
            return Answer(status, body)
    except IntegrityError:
        # A twin was faster: its key is committed now, or the effect itself was refused.
        answered = _answered(scope, key, fingerprint)
        if answered is None:
            raise
        return answered


def _answered(scope: str, key: str, fingerprint: int) -> Answer | None:
    row = WriteKey.objects.filter(scope=scope, key=key).first()
    if row is None:
        return None
    if row.fingerprint != fingerprint:
        raise ServiceError("key_reused")
    if row.status is None or row.answer is None:
        raise unavailable()
    try:
        body = sealing.unseal_bytes(bytes(row.answer), aad=_aad(scope, key))
    except SealBroken as error:
        LOG.warning("an answer cannot be opened: %s", error)
        raise ServiceError("answer_expired") from error
    return Answer(row.status, body, replayed=True)


def _aad(scope: str, key: str) -> bytes:
    return f"{scope}\n{key}".encode()


__all__ = ["Answer", "once", "scope_of"]
