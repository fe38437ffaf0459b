"""Refusals of the API: whoever raises one, it becomes a `Problem` and is answered here."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from django.http import HttpResponse

from matches.services.problems import CONTENT_TYPE, Fact, body_of


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


def render(problem: Problem) -> HttpResponse:
    """The refusal as an answer."""
    body = body_of(problem.code, problem.detail, problem.facts)
    response = HttpResponse(
        msgspec.json.encode(body), status=body.status, content_type=CONTENT_TYPE
    )
    if problem.retry_after_s is not None:
        response["Retry-After"] = str(problem.retry_after_s)
    for name, value in problem.headers.items():
        response[name] = value
    return response
