"""Read-only windows on the rating log and its projection, for staff who may view them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.contrib import admin
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest

from ratings.models import CatchUp, Rating, RatingEvent

if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin[Model]
else:
    _ModelAdmin = admin.ModelAdmin


class ReadOnly(_ModelAdmin):
    """Nothing is added, changed or deleted here, by whomever; bulk actions are gone too."""

    actions = None
    show_full_result_count = False
    found_by: tuple[str, ...] = ()
    """The columns that a search for an id looks in; a search for anything else finds nothing."""

    def get_search_results(
        self,
        request: HttpRequest,  # noqa: ARG002
        queryset: QuerySet[Model],
        search_term: str,
    ) -> tuple[QuerySet[Model], bool]:
        """Return the rows with that id, by index and not by comparing texts."""
        if not search_term:
            return queryset, False
        try:
            sought = UUID(search_term.strip())
        except ValueError:
            return queryset.none(), False
        either = Q()
        for column in self.found_by:
            either |= Q(**{column: sought})
        return queryset.filter(either), False

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        """Return False: the log grows by matches alone."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        """Return False: a correction is a new line."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        """Return False: the log forgets nothing."""
        return False


@admin.register(RatingEvent)
class RatingEventAdmin(ReadOnly):
    """The rating log."""

    list_display = (
        "pool",
        "seq",
        "match_id",
        "seat",
        "player",
        "place",
        "before_rating",
        "after_rating",
        "after_rd",
    )
    list_filter = ("kind", "algorithm")
    search_fields = ("match_id", "player")
    search_help_text = "id of a match or a player"
    found_by = ("match_id", "player")
    ordering = ("-id",)


@admin.register(Rating)
class RatingAdmin(ReadOnly):
    """Where everybody stands."""

    list_display = ("pool", "player", "rating", "rd", "vol", "games", "last_at_ms")
    search_fields = ("player",)
    search_help_text = "id of a player"
    found_by = ("player",)
    ordering = ("pool", "-rating", "rd", "player")


@admin.register(CatchUp)
class CatchUpAdmin(ReadOnly):
    """How far the log of matches has been rated."""

    list_display = ("__str__", "updated_at")
