"""Cursors of lists: where a page ended, in a form that clients need not understand."""

from __future__ import annotations

import re
from uuid import UUID

from matches.services.problems import Problem

_FORM = re.compile(r"([0-9]{1,15})-([0-9a-f]{32})", re.ASCII)


def cursor_of(created_at_ms: int, match_id: UUID) -> str:
    """The cursor after a match; both parts never change, whatever happens in the match.

    >>> cursor_of(1700000000000, UUID(int=7))
    '1700000000000-00000000000000000000000000000007'
    """
    return f"{created_at_ms}-{match_id.hex}"


def read_cursor(text: str | None) -> tuple[int, UUID] | None:
    """What `cursor_of` wrote; raises `Problem` invalid_parameter for anything else."""
    if text is None:
        return None
    found = _FORM.fullmatch(text)
    if found is None:
        raise Problem("invalid_parameter", "The cursor is not one of ours.")
    return int(found[1]), UUID(hex=found[2])
