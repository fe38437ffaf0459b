"""ETags: a hash of what the viewer sees, and of nothing else.

They are weak: an answer also holds the time, which no ETag covers.
"""

from __future__ import annotations

import base64
import hashlib

from django.http import HttpRequest


def etag_of(seen: bytes) -> str:
    """The weak ETag of an answer (RFC 9110): of the bytes that its viewer sees, time apart."""
    digest = hashlib.sha256(seen).digest()[:16]
    return f'W/"{base64.urlsafe_b64encode(digest).decode().rstrip("=")}"'


def matches(request: HttpRequest, etag: str) -> bool:
    """Whether If-None-Match names the ETag: weak comparison, as it asks for."""
    stated = request.META.get("HTTP_IF_NONE_MATCH", "")
    if not stated:
        return False
    if stated.strip() == "*":
        return True
    wanted = etag.removeprefix("W/")
    return wanted in {one.strip().removeprefix("W/") for one in stated.split(",")}
