"""What every request is held to before its view looks at it: headers, body, query."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, TypeVar

import msgspec
from django.conf import settings
from django.http import HttpRequest
from django.http.request import UnreadablePostError

from matches.services import keys, parsing, wire
from matches.services.problems import Problem

T = TypeVar("T")

HEADER_CHARS = 2048
URI_CHARS = 2048
STRANGERS_KEY_CHARS = 16
"""The shortest Idempotency-Key of whoever has no token. Such a key names its client: all that
come from one address share their keys, and an answer may hold a token."""

_READ_HEADERS = (
    "HTTP_ACCEPT",
    "HTTP_AUTHORIZATION",
    "HTTP_IDEMPOTENCY_KEY",
    "HTTP_IF_NONE_MATCH",
    "HTTP_X_FORWARDED_FOR",
    "CONTENT_TYPE",
)
_INTEGER = re.compile(r"(0|-?[1-9][0-9]{0,17})\Z", re.ASCII)
_JSON_RANGES = frozenset({"*/*", "application/*", "application/json"})
_CHARSETS = frozenset({"utf-8", "utf8"})


def check_line(request: HttpRequest) -> None:
    """Refuse a request whose address or headers are beyond measure, or whose host is not ours.

    Raises `Problem` uri_too_long, header_too_large, https_required, length_required, and
    Django's `DisallowedHost`.
    """
    meta = request.META
    if len(request.path_info) + len(meta.get("QUERY_STRING", "")) > URI_CHARS:
        raise Problem("uri_too_long")
    for name in _READ_HEADERS:
        if len(meta.get(name, "")) > HEADER_CHARS:
            raise Problem("header_too_large")
    _check_host(request)
    if "HTTP_TRANSFER_ENCODING" in meta:
        raise Problem("length_required", "A chunked body has no Content-Length.")
    if settings.SECURE_SSL_REDIRECT and not request.is_secure():
        # A redirected request has already sent its token in the clear.
        raise Problem("https_required")


def _check_host(request: HttpRequest) -> None:
    host = request.META.get("HTTP_HOST")
    if host is None or settings.USE_X_FORWARDED_HOST:
        request.get_host()
    else:
        _check_known_host(host, tuple(settings.ALLOWED_HOSTS))


@lru_cache(maxsize=256)
def _check_known_host(host: str, _allowed: tuple[str, ...]) -> None:
    """Django's check, once for each host that passes it under the same setting."""
    asked = HttpRequest()
    asked.META["HTTP_HOST"] = host
    asked.get_host()


def check_accept(request: HttpRequest) -> None:
    """Refuse with not_acceptable a client that does not take JSON."""
    accept = request.META.get("HTTP_ACCEPT", "")
    if accept in ("", "*/*", "application/json"):
        return
    for part in accept.split(","):
        media, *parameters = (piece.strip().lower() for piece in part.split(";"))
        if media in _JSON_RANGES and not any(_is_zero(one) for one in parameters):
            return
    raise Problem("not_acceptable")


def _is_zero(parameter: str) -> bool:
    return re.fullmatch(r"q\s*=\s*0(\.0*)?", parameter) is not None


def read_body(request: HttpRequest, *, limit: int = parsing.BODY_BYTES) -> bytes:
    """The whole body, which may be empty.

    Raises `Problem` bad_content_length, body_too_large, body_incomplete,
    unsupported_encoding, unsupported_media_type.
    """
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not (length.isascii() and length.isdigit()):
        raise Problem("bad_content_length")
    # Ten digits are beyond every limit already, and the int of a thousand is slow.
    if len(length) > 10 or int(length) > limit:
        raise Problem("body_too_large", facts={"limit_bytes": limit})
    if int(length) == 0:
        return b""
    _check_type(request)
    try:
        raw = request.read(int(length))
    except UnreadablePostError:
        raise Problem("body_incomplete") from None
    if len(raw) != int(length):
        raise Problem("body_incomplete")
    return raw


def _check_type(request: HttpRequest) -> None:
    if request.META.get("HTTP_CONTENT_ENCODING", "identity").strip().lower() != "identity":
        raise Problem("unsupported_encoding")
    stated = request.META.get("CONTENT_TYPE", "")
    if stated == "application/json":
        return
    media, *parameters = (piece.strip().lower() for piece in stated.split(";"))
    if media != "application/json":
        raise Problem("unsupported_media_type")
    for parameter in filter(None, parameters):
        name, _, value = parameter.partition("=")
        if name.strip() != "charset" or value.strip().strip('"') not in _CHARSETS:
            raise Problem("unsupported_media_type", "The only charset is UTF-8.")


def read_query(request: HttpRequest, kind: type[T]) -> T:
    """The query as a value of the type, a struct of numbers and texts.

    Raises `Problem` unknown_parameter and invalid_parameter.
    """
    found: dict[str, Any] = {}
    for name, values in request.GET.lists():
        if len(values) != 1:
            raise Problem("invalid_parameter", "A parameter stands in the query more than once.")
        # Only plain digits are a number: 1e3, 0x10 or a full-width digit are not.
        found[name] = int(values[0]) if _INTEGER.match(values[0]) else values[0]
    try:
        return msgspec.convert(found, kind)
    except msgspec.ValidationError as error:
        text = str(error)
        if text.startswith("Object contains unknown field"):
            raise Problem("unknown_parameter", text) from None
        raise Problem("invalid_parameter", text) from None


def no_query(request: HttpRequest) -> None:
    """Refuse a query where none is known."""
    if request.META.get("QUERY_STRING"):
        raise Problem("unknown_parameter")


def idempotency_key(request: HttpRequest) -> str:
    """The request's Idempotency-Key; raises `Problem` where it is missing or not allowed."""
    return keys.checked(str(request.META.get("HTTP_IDEMPOTENCY_KEY", "")))


def strangers_key(request: HttpRequest) -> str:
    """The key of a write without a token, as `idempotency_key`, and no shorter than it must be."""
    key = idempotency_key(request)
    if len(key) < STRANGERS_KEY_CHARS:
        shortest = f"Without a token it has at least {STRANGERS_KEY_CHARS} characters."
        raise Problem("idempotency_key_invalid", shortest)
    return key


def address_of(request: HttpRequest) -> str:
    """The client's address as `wire.address_of` tells it, "unknown" where it cannot be told."""
    return known_address_of(request) or "unknown"


def known_address_of(request: HttpRequest) -> str | None:
    """The same, None where it cannot be told."""
    meta = request.META
    return wire.address_of(meta.get("REMOTE_ADDR", ""), meta.get("HTTP_X_FORWARDED_FOR", ""))
