"""Ids in addresses."""

from __future__ import annotations

from uuid import UUID

from matches.services.wire import ID_PATTERN


class IdConverter:
    """An id as addresses spell it."""

    regex = ID_PATTERN

    def to_python(self, value: str) -> UUID:
        """The id."""
        return UUID(value)

    def to_url(self, value: UUID | str) -> str:
        """The id as we write it."""
        return UUID(str(value)).hex
