"""Refusals on the wire: RFC 9457 problem details, each with a stable `code`.

Every refusal of the API, whoever raises it, becomes a `Problem`, and every
`Problem` is rendered here. What one may not see answers with the same bytes as
what does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from django.http import HttpResponse

from matches.api.codes import ERRORS_PATH, TABLE

DETAIL_CHARS = 300
"""The longest `detail`; it may quote the client."""

Fact = str | int | list[str]
"""A value beside a code."""

CONTENT_TYPE = "application/problem+json"


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
    def status(self) -> int:
        """The HTTP status of the code."""
        return TABLE[self.code].status


class ProblemBody(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A refusal (RFC 9457). `code` is stable; `detail` is for people and may change."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    facts: dict[str, Fact] = {}


def title(code: str) -> str:
    """The code in words."""
    return code.replace("_", " ").capitalize()


def body_of(problem: Problem) -> ProblemBody:
    """What the refusal says."""
    entry = TABLE[problem.code]
    return ProblemBody(
        type=f"{ERRORS_PATH}#{problem.code}",
        title=title(problem.code),
        status=entry.status,
        code=problem.code,
        detail=(problem.detail or entry.meaning)[:DETAIL_CHARS],
        facts=problem.facts,
    )


def render(problem: Problem) -> HttpResponse:
    """The refusal as an answer."""
    response = HttpResponse(
        msgspec.json.encode(body_of(problem)), status=problem.status, content_type=CONTENT_TYPE
    )
    if problem.retry_after_s is not None:
        response["Retry-After"] = str(problem.retry_after_s)
    for name, value in problem.headers.items():
        response[name] = value
    return response
