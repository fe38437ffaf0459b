"""The one table of error codes: status and meaning of each, from whichever layer it comes.

docs/errors.md is this table (`python -m matches.services.codes` prints it); clients
may rely on a code for ever, on the wording never.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from matches.services import errors
from matches.services.errors import Code

ERRORS_PATH = "/api/v1/errors"
"""Where the API publishes this table; `type` of a problem points into it."""


_REQUEST = {
    "malformed_json": Code(400, "The body is not JSON in UTF-8."),
    "duplicate_key": Code(400, "An object in the body has a key twice."),
    "json_too_deep": Code(400, "The body nests deeper than 16 levels."),
    "bad_number": Code(400, "The body holds a number that is out of range or none at all."),
    "bad_text": Code(400, "The body holds a text with a NUL or half a surrogate pair."),
    "invalid_body": Code(400, "The body does not have the form that this request asks for."),
    "unknown_field": Code(400, "The body has a field that this request does not know."),
    "unknown_parameter": Code(400, "The query has a parameter that this request does not know."),
    "invalid_parameter": Code(400, "A query parameter does not allow this value."),
    "idempotency_key_missing": Code(400, "A write needs an Idempotency-Key header."),
    "idempotency_key_invalid": Code(
        400, "An Idempotency-Key is 1 to 64 visible ASCII characters; without a token 16 to 64."
    ),
    "bad_content_length": Code(400, "Content-Length is not a plain number."),
    "body_incomplete": Code(400, "The body ended before its Content-Length."),
    "bad_host": Code(400, "The Host header does not name this server."),
    "bad_request": Code(400, "The request is not well-formed."),
    "not_authenticated": Code(401, "The request needs an Authorization: Bearer token."),
    "https_required": Code(403, "The API is served over HTTPS only."),
    "forbidden": Code(403, "This may not be done with these credentials."),
    "not_found": Code(404, "There is nothing at this address."),
    "unknown_pool": Code(404, "There is no such pool of ratings."),
    "seq_ahead": Code(409, "The match has not come that far; `seq` is your last event."),
    "method_not_allowed": Code(405, "The address does not know this method."),
    "not_acceptable": Code(406, "The answer would be JSON, which Accept does not allow."),
    "length_required": Code(411, "A body needs a Content-Length."),
    "body_too_large": Code(413, "The body is larger than this request may be."),
    "uri_too_long": Code(414, "The address is longer than 2,048 characters."),
    "unsupported_media_type": Code(415, "The body must be application/json in UTF-8."),
    "unsupported_encoding": Code(415, "The body must not be compressed."),
    "header_too_large": Code(431, "A header is longer than 2,048 characters."),
    "internal_error": Code(500, "The server made a mistake. Nothing is known to have changed."),
}
"""What can be wrong with any request, whatever it asks for."""

TABLE: Mapping[str, Code] = MappingProxyType({**_REQUEST, **errors.meanings()})
"""Every code there is; no code of a request is one of the services too."""


def markdown() -> str:
    """The table as docs/errors.md."""
    lines = [
        "# Error codes",
        "",
        "Every refusal is `application/problem+json` (RFC 9457) with a `code` from this table.",
        "A code, once released, keeps its meaning and status; the wording may change.",
        f"The same table is served at `GET {ERRORS_PATH}`.",
        "",
        "| code | status | meaning |",
        "|---|---|---|",
    ]
    ordered = sorted(TABLE.items(), key=lambda item: (item[1].status, item[0]))
    lines += [f"| `{code}` | {entry.status} | {entry.meaning} |" for code, entry in ordered]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(markdown(), end="")  # noqa: T201 - what it is run for
