"""Ids in addresses."""

from __future__ import annotations

from uuid import UUID


class IdConverter:
    """A UUID in lower case, as 32 hex digits (which is how we write them) or with its hyphens."""

    regex = "[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}"

    def to_python(self, value: str) -> UUID:
        """The id."""
        return UUID(value)

    def to_url(self, value: UUID | str) -> str:
        """The id as we write it."""
        return UUID(str(value)).hex
