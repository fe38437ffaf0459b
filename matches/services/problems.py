"""Refusals on the wire: RFC 9457 problem details, each with a stable `code`.

REST and the streams refuse in the same words: both render here. What one may
not see answers with the same bytes as what does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from matches.services.codes import ERRORS_PATH, TABLE

DETAIL_CHARS = 300
"""The longest `detail`; it may quote the client."""

Fact = str | int | list[str]
"""A value beside a code."""

CONTENT_TYPE = "application/problem+json"


class ProblemBody(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A refusal (RFC 9457). `code` is stable; `detail` is for people and may change."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    facts: dict[str, Fact] = {}


def title(code: str) -> str:
    """The code in words.

    >>> title("not_your_turn")
    'Not your turn'
    """
    return code.replace("_", " ").capitalize()


def body_of(
    code: str, detail: str | None = None, facts: Mapping[str, Fact] | None = None
) -> ProblemBody:
    """What a refusal says; without a `detail` of its own, its code's meaning."""
    entry = TABLE[code]
    return ProblemBody(
        type=f"{ERRORS_PATH}#{code}",
        title=title(code),
        status=entry.status,
        code=code,
        detail=(detail or entry.meaning)[:DETAIL_CHARS],
        facts=dict(facts or {}),
    )
