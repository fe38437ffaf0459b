"""The pages of the staff: a password can be guessed there too, so log-ins are counted."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.admin.forms import AdminAuthenticationForm
from django.http import HttpRequest, HttpResponse

from matches.api.faults import handle
from matches.api.requests import address_of
from matches.models import username_key
from matches.services.errors import ServiceError
from matches.services.throttling import name_of, throttle


class CountedLogin(AdminAuthenticationForm):
    """The form in which staff log in."""

    def clean(self) -> dict[str, Any]:
        """Count the attempt before the password is looked at.

        Attempts of an address count together, and those on a name (as Django
        looks it up) wherever they come from. Raises `ServiceError`
        too_many_requests, throttle_unavailable.
        """
        assert self.request is not None
        throttle.spend("login", address_of(self.request))
        throttle.spend("login", name_of(username_key(self.cleaned_data.get("username", ""))))
        return super().clean()


class StaffSite(AdminSite):
    """Django's admin behind our limits."""

    login_form = CountedLogin

    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the form, log in, or refuse as the API does."""
        try:
            return super().login(request, extra_context)
        except ServiceError as error:
            return handle(error)
