"""JSON from strangers: read strictly, within limits, or refused with a code.

JSON leaves much open that a client could use to be read in two ways: doubled
keys, NaN, numbers of any length, halves of surrogate pairs. All of it is
refused here, before any schema is looked at.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from matches.services.problems import Problem

BODY_BYTES = 64 * 1024
"""The largest body of an ordinary request."""
DEPTH = 16
"""The deepest nesting of arrays and objects."""
INT_RANGE = (-(2**63), 2**63 - 1)
"""The smallest and largest integer that is read."""

T = TypeVar("T")

# Possessive, and the closing quote optional: an open string is read once, never tried again.
_TOKENS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


def decode(raw: bytes) -> Any:
    """The value that the bytes say, read strictly.

    Raises `Problem`: malformed_json, duplicate_key, bad_number, bad_text, json_too_deep.
    """
    if raw.count(b"[") + raw.count(b"{") > DEPTH:
        _check_depth(raw)
    try:
        value = _DECODER.decode(raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise Problem("malformed_json", "The body is not UTF-8.") from None
    except json.JSONDecodeError as error:
        where = f"{error.msg} at character {error.pos}."
        raise Problem("malformed_json", where) from None
    # Only an escape can smuggle in what UTF-8 itself refuses, or a NUL.
    if b"\\u" in raw:
        _check_texts(value)
    return value


def decode_as(kind: type[T], raw: bytes) -> T:
    """The body as a value of the type; an empty body stands for an empty object.

    Raises `Problem` as `decode` does, and unknown_field or invalid_body.
    """
    return convert(kind, decode(raw) if raw else {})


def convert(kind: type[T], value: Any) -> T:
    """The decoded value as a value of the type; raises `Problem` unknown_field or invalid_body."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        text = str(error)
        unknown = text.startswith("Object contains unknown field")
        raise Problem("unknown_field" if unknown else "invalid_body", text) from None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Problem("duplicate_key")
    return found


def _constant(text: str) -> Any:
    raise Problem("bad_number", f"{text} is not a JSON number.")


def _integer(text: str) -> int:
    if len(text) > 20 or not INT_RANGE[0] <= int(text) <= INT_RANGE[1]:
        raise Problem("bad_number", "An integer is out of range.")
    return int(text)


def _fraction(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise Problem("bad_number", "A number is out of range.")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs,
    parse_constant=_constant,
    parse_int=_integer,
    parse_float=_fraction,
)


def _check_depth(raw: bytes) -> None:
    depth = 0
    for token in _TOKENS.finditer(raw):
        first = token.group()[:1]
        if first in b"[{":
            depth += 1
            if depth > DEPTH:
                raise Problem("json_too_deep")
        elif first in b"]}":
            depth -= 1


def _check_texts(value: Any) -> None:
    for text in _texts(value):
        if "\0" in text:
            raise Problem("bad_text", "A text holds a NUL.")
        if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
            raise Problem("bad_text", "A text holds half of a surrogate pair.")


def _texts(value: Any) -> Iterator[str]:
    # The depth was checked, so this recursion is bounded.
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
