"""A read-only window on facts for moderators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from matches.models import Flag
from matches.services import people

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Flag]
else:
    _ModelAdmin = admin.ModelAdmin


@admin.register(Flag)
class FlagAdmin(_ModelAdmin):
    """The facts, the newest first."""

    actions = None
    show_full_result_count = False
    list_display = ("day", "kind", "count", "first", "second")
    list_filter = ("kind", "day")
    ordering = ("-day", "kind", "-count", "id")

    @admin.display(description="one")
    def first(self, flag: Flag) -> str:
        """The name of one, or its id."""
        return _called(flag.one.hex)

    @admin.display(description="other")
    def second(self, flag: Flag) -> str:
        """The name of the other, or its id."""
        return _called(flag.other.hex)

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        """Return False: facts are found, not made."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        """Return False: facts stay as they were found."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        """Return False: time deletes them."""
        return False


def _called(player: str) -> str:
    found = people.by_id(player)
    return player if found is None or found.username is None else found.username
