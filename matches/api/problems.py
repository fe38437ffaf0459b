"""Refusals of the API: whoever raises one, it becomes a `Problem` and is answered here."""

from __future__ import annotations

import msgspec
from django.http import HttpResponse

from matches.services.problems import CONTENT_TYPE, Problem


def render(problem: Problem) -> HttpResponse:
    """The refusal as an answer."""
    body = problem.body
    response = HttpResponse(
        msgspec.json.encode(body), status=body.status, content_type=CONTENT_TYPE
    )
    if problem.retry_after_s is not None:
        response["Retry-After"] = str(problem.retry_after_s)
    for name, value in problem.headers.items():
        response[name] = value
    return response
