"""Sealing secrets with AES-256-GCM under the keys of the environment.

`XQMJ_SEAL_KEYS` holds the keys by id; the first seals, all unseal, so a key is
changed by putting a new one in front. A key seals at most 2^32 secrets, the
bound of random nonces.
"""

from __future__ import annotations

import base64
import binascii
import os
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

NONCE_BYTES = 12
_BYTES_DOMAIN = b"xqmj sealed@1\0"
"""Begins the AAD of `seal_bytes`, so that none of its seals passes for a match's secret."""


class SealBroken(Exception):
    """What is sealed cannot be opened: the key is missing, or it is not what was sealed."""


def seal(secret: bytes, match_id: UUID) -> tuple[str, str]:
    """The secret of a match as the log keeps it: (base64 of nonce and ciphertext, key id)."""
    key_id = _current()
    return base64.b64encode(_seal(secret, key_id, match_id.bytes)).decode(), key_id


def unseal(sealed: str, key_id: str, match_id: UUID) -> bytes:
    """The secret of a match; raises `SealBroken`."""
    try:
        blob = base64.b64decode(sealed, validate=True)
    except binascii.Error as error:
        raise SealBroken("the seal is not base64") from error
    return _unseal(blob, key_id, match_id.bytes)


def seal_bytes(data: bytes, *, aad: bytes) -> bytes:
    """Data that only `unseal_bytes` with the same `aad` opens; it names its key itself."""
    key_id = _current()
    name = key_id.encode()
    return bytes([len(name)]) + name + _seal(data, key_id, _BYTES_DOMAIN + aad)


def unseal_bytes(blob: bytes, *, aad: bytes) -> bytes:
    """What `seal_bytes` sealed; raises `SealBroken`."""
    if not blob:
        raise SealBroken("nothing is sealed here")
    end = 1 + blob[0]
    return _unseal(blob[end:], blob[1:end].decode(errors="replace"), _BYTES_DOMAIN + aad)


def _current() -> str:
    keys: dict[str, bytes] = settings.XQMJ_SEAL_KEYS
    if not keys:
        raise SealBroken("XQMJ_SEAL_KEYS is empty")
    return next(iter(keys))


def _cipher(key_id: str) -> AESGCM:
    keys: dict[str, bytes] = settings.XQMJ_SEAL_KEYS
    if key_id not in keys:
        raise SealBroken(f"there is no seal key {key_id}")
    return AESGCM(keys[key_id])


def _seal(data: bytes, key_id: str, aad: bytes) -> bytes:
    nonce = os.urandom(NONCE_BYTES)
    return nonce + _cipher(key_id).encrypt(nonce, data, aad)


def _unseal(blob: bytes, key_id: str, aad: bytes) -> bytes:
    try:
        return _cipher(key_id).decrypt(blob[:NONCE_BYTES], blob[NONCE_BYTES:], aad)
    except (InvalidTag, ValueError) as error:
        raise SealBroken("this is not what was sealed") from error
