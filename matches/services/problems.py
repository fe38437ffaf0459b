"""Refusals on the wire: RFC 9457 problem details, each with a stable `code`.

REST and the streams refuse in the same words: both render here. What one may
not see answers with the same bytes as what does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from django.db import InterfaceError, OperationalError

from matches.eventstore.pool import Unavailable
from matches.games.protocol import Rejected
from matches.services.codes import ERRORS_PATH, TABLE
from matches.services.errors import ServiceError

RETRY_AFTER_S = 1
"""After an outage of the database the pool is back within about this time."""

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


class Problem(Exception):
    """A refusal with its code.

    `detail` says more than the code's own meaning where there is more to say;
    `facts` are named values beside it (never hidden ones). `retry_after_s` and
    `headers` go into the answer's headers.
    """

    def __init__(
        self,
        code: str,
        detail: str | None = None,
        *,
        facts: Mapping[str, Fact] | None = None,
        retry_after_s: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail
        self.facts = dict(facts or {})
        self.retry_after_s = retry_after_s
        self.headers = dict(headers or {})

    @property
    def body(self) -> ProblemBody:
        """What it says."""
        return body_of(self.code, self.detail, self.facts)


def expected(error: Exception) -> Problem | None:
    """The refusal that a service means by an error, None where none does."""
    match error:
        case Problem():
            return error
        case Rejected():
            return Problem(error.code, facts=error.detail)
        case ServiceError():
            return Problem(error.code, facts=error.detail, retry_after_s=error.retry_after_s)
        case Unavailable() | OperationalError() | InterfaceError():
            return Problem("unavailable", retry_after_s=RETRY_AFTER_S)
        case _:
            return None
