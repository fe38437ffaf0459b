"""ETags: a hash of what the viewer sees, and of nothing else."""

from __future__ import annotations

import base64
import hashlib

from django.http import HttpRequest


def etag_of(seen: bytes) -> str:
    """The strong ETag of the bytes that a viewer sees (RFC 9110), quotes included."""
    digest = hashlib.sha256(seen).digest()[:16]
    return f'"{base64.urlsafe_b64encode(digest).decode().rstrip("=")}"'


def matches(request: HttpRequest, etag: str) -> bool:
    """Whether If-None-Match names the ETag: weak comparison, as it asks for."""
    stated = request.META.get("HTTP_IF_NONE_MATCH", "")
    if not stated:
        return False
    if stated.strip() == "*":
        return True
    return etag in {one.strip().removeprefix("W/") for one in stated.split(",")}
