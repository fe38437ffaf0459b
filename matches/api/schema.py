"""The OpenAPI 3.1 document: operations declared beside their views, types taken from msgspec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema

from matches.api import shapes
from matches.api.answers import SERVER_TIME
from matches.api.requests import STRANGERS_KEY_CHARS
from matches.domain.visibility import Line
from matches.games.protocol import Action
from matches.services.bodies import Body, act_body
from matches.services.codes import TABLE
from matches.services.problems import ProblemBody

View = TypeVar("View", bound=Callable[..., Any])
Schema = dict[str, Any]

REF = "#/components/schemas/{name}"
JSON = "application/json"
PROBLEM = "application/problem+json"

ANY_REQUEST = (
    "bad_host",
    "bad_request",
    "unknown_parameter",
    "https_required",
    "not_acceptable",
    "too_many_requests",
    "header_too_large",
    "uri_too_long",
    "length_required",
    "internal_error",
    "unavailable",
)
"""Codes that any operation can answer."""
ANY_QUERY = ("invalid_parameter",)
ANY_BODY = (
    "malformed_json",
    "duplicate_key",
    "json_too_deep",
    "bad_number",
    "bad_text",
    "invalid_body",
    "unknown_field",
    "bad_content_length",
    "body_incomplete",
    "body_too_large",
    "unsupported_media_type",
    "unsupported_encoding",
)
ANY_KEY = ("idempotency_key_missing", "idempotency_key_invalid", "key_reused")
ANY_TOKEN = ("not_authenticated", "bad_token")

_TOKEN: Schema = {"token": []}
_AUTH: dict[bool | None, Any] = {True: [_TOKEN], False: [], None: [{}, _TOKEN]}
_SECURITY_SCHEMES: Schema = {"token": {"type": "http", "scheme": "bearer"}}
_ID = {"type": "string", "format": "uuid"}
_IDS: Mapping[str, Any] = {"match_id": _ID, "seek_id": _ID, "challenge_id": _ID, "token_id": _ID}
_types: set[Any] = {ProblemBody}


def operation(
    name: str,
    summary: str,
    answers: Mapping[int, Any],
    *,
    tag: str,
    body: Any = None,
    query: type[Body] | None = None,
    path: Mapping[str, str] | None = None,
    key: bool = False,
    token: bool | None = True,
    errors: tuple[str, ...] = (),
) -> Callable[[View], View]:
    """Declare what a view's method takes and answers.

    `answers` gives the struct of each status, `path` the meaning of each path
    parameter, `errors` the codes beyond those that its other arguments imply.
    `token` None: one may come with a token, and need not.
    """
    _types.update(kind for kind in (*answers.values(), body) if kind is not None)
    codes = (
        *ANY_REQUEST,
        *(ANY_QUERY if query is not None else ()),
        *(ANY_BODY if body is not None else ()),
        *(ANY_KEY if key else ()),
        *(("not_found",) if _IDS.keys() & (path or {}).keys() else ()),
        *(ANY_TOKEN if token else ("bad_token",) if token is None else ()),
        *(("scope_forbids",) if key and token else ()),
        *errors,
    )
    return extend_schema(
        operation_id=name,
        summary=summary,
        tags=[tag],
        auth=_AUTH[token],
        request=None if body is None else {JSON: _ref(body)},
        parameters=[
            *_path(path or {}),
            *_query(query),
            *_headers(key=key, token=token),
            *_told(answers),
        ],
        responses={**_answers(answers), **_refusals(codes)},
    )


def _ref(kind: Any) -> Schema:
    return {"$ref": REF.format(name=kind.__name__)}


def _answers(answers: Mapping[int, Any]) -> dict[Any, OpenApiResponse]:
    found: dict[Any, OpenApiResponse] = {}
    for status, kind in answers.items():
        if kind is None:
            found[status] = OpenApiResponse(description="Nothing changed, or nothing to say.")
        else:
            text = str(kind.__doc__ or "").strip().split("\n\n")[0]
            found[status, JSON] = OpenApiResponse(response=_ref(kind), description=text)
    return found


def _refusals(codes: tuple[str, ...]) -> dict[Any, OpenApiResponse]:
    by_status: dict[int, list[str]] = {}
    for code in dict.fromkeys(codes):
        by_status.setdefault(TABLE[code].status, []).append(code)
    return {
        (status, PROBLEM): OpenApiResponse(
            response={
                "allOf": [_ref(ProblemBody)],
                "properties": {"code": {"enum": sorted(found)}},
            },
            description=", ".join(sorted(found)),
        )
        for status, found in sorted(by_status.items())
    }


def _path(names: Mapping[str, str]) -> list[OpenApiParameter]:
    return [
        OpenApiParameter(
            name, _IDS.get(name, {"type": "string"}), OpenApiParameter.PATH, description=text
        )
        for name, text in names.items()
    ]


def _query(kind: type[Body] | None) -> list[OpenApiParameter]:
    if kind is None:
        return []
    _, components = msgspec.json.schema_components([kind], ref_template=REF)
    properties = components[kind.__name__].get("properties", {})
    return [OpenApiParameter(name, form) for name, form in properties.items()]


def _headers(*, key: bool, token: bool | None) -> list[OpenApiParameter]:
    if not key:
        return []
    form = {
        "type": "string",
        "minLength": STRANGERS_KEY_CHARS if token is False else 1,
        "maxLength": 64,
        "pattern": "^[\\x21-\\x7e]+$",
    }
    return [
        OpenApiParameter(
            "Idempotency-Key",
            form,
            OpenApiParameter.HEADER,
            required=True,
            description="One key for one write: repeated with the same body it answers the same.",
        )
    ]


def _told(answers: Mapping[int, Any]) -> list[OpenApiParameter]:
    """The headers of the answers: those about a match have the time."""
    if not any("now" in getattr(kind, "__struct_fields__", ()) for kind in answers.values()):
        return []
    return [
        OpenApiParameter(
            SERVER_TIME,
            {"type": "integer"},
            OpenApiParameter.HEADER,
            response=list(answers),
            description="The database clock at the time of the answer, in ms.",
        )
    ]


def act_shape() -> Any:
    """The body of an action in any game."""
    return act_body(shapes.actions())


def add_components(result: Schema, **_more: Any) -> Schema:
    """drf-spectacular's hook: add every struct that an operation names, and what it is made of."""
    seen = list(dict.fromkeys(shapes.SEEN.values()))
    kinds = [*_types, *seen, *shapes.HAND_VIEWS, shapes.actions()]
    _, components = msgspec.json.schema_components(kinds, ref_template=REF)
    result["components"]["securitySchemes"] = _SECURITY_SCHEMES
    schemas = result["components"].setdefault("schemas", {})
    schemas.update(sorted(components.items()))
    _fill_views(schemas)
    # The games' own actions stand in the base's place; it has no form of its own.
    schemas.pop(Action.__name__, None)
    return result


def _fill_views(schemas: Schema) -> None:
    """Put the games' own types where the match's types leave room for any."""
    refs, _ = msgspec.json.schema_components(
        [shapes.actions(), *shapes.HAND_VIEWS], ref_template=REF
    )
    view = schemas["MatchView"]["properties"]
    view["hand"] = {"anyOf": [*refs[1:], {"type": "null"}]}
    view["legal"] = {"anyOf": [{"type": "array", "items": refs[0]}, {"type": "null"}]}
    line = schemas[Line.__name__]
    line["properties"]["kind"] = {"enum": sorted(shapes.SEEN)}
    line["oneOf"] = [
        {"properties": {"kind": {"const": kind}, "data": _ref(data)}}
        for kind, data in sorted(shapes.SEEN.items())
    ]
