"""Declares these addresses in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema

from ratings.api.serializers import Fields

View = TypeVar("View", bound=Callable[..., Any])

PROBLEM = "application/problem+json"
PROBLEM_SHAPE = "#/components/schemas/ProblemBody"
"""The one form of all refusals; the API that these addresses are part of declares it."""

_PATH = {
    "username": "A player's name, in whatever case.",
    "pool": "A pool's key, such as `xqmj-32-2p-blitz`.",
}
_STATUS = {
    "bad_host": 400,
    "bad_request": 400,
    "unknown_parameter": 400,
    "invalid_parameter": 400,
    "unknown_player": 404,
    "unknown_pool": 404,
    "not_acceptable": 406,
    "uri_too_long": 414,
    "too_many_requests": 429,
    "header_too_large": 431,
    "internal_error": 500,
    "unavailable": 503,
}
_ALWAYS = tuple(code for code in _STATUS if not code.startswith("unknown_p"))


def operation(
    name: str,
    summary: str,
    shape: type[Fields],
    *,
    path: tuple[str, ...] = (),
    query: type[Fields] | None = None,
    errors: tuple[str, ...] = (),
) -> Callable[[View], View]:
    """Declare what a GET asks and answers.

    `path` names the parameters in the address, `errors` the codes beyond those of any GET.
    """
    by_status: dict[int, list[str]] = {}
    for code in (*_ALWAYS, "unknown_parameter", *errors):
        by_status.setdefault(_STATUS[code], []).append(code)
    refusals = {
        (status, PROBLEM): OpenApiResponse(
            response={
                "allOf": [{"$ref": PROBLEM_SHAPE}],
                "properties": {"code": {"enum": sorted(codes)}},
            },
            description=", ".join(sorted(codes)),
        )
        for status, codes in sorted(by_status.items())
    }
    return extend_schema(
        operation_id=name,
        summary=summary,
        tags=["ratings"],
        auth=[],
        parameters=[
            *(
                OpenApiParameter(one, str, OpenApiParameter.PATH, description=_PATH[one])
                for one in path
            ),
            *([query] if query is not None else []),
        ],
        responses={200: OpenApiResponse(shape, str(shape.__doc__)), **refusals},
    )
