"""The project as an app, which brings commands and checks, and its admin."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class SiteConfig(AppConfig):
    """Registers the checks of the database, and the Celery application that tasks belong to."""

    name = "xqmj_site"

    def ready(self) -> None:
        """Import what registers itself."""
        from xqmj_site import celery, checks  # noqa: F401 - the import is the point


class StaffConfig(AdminConfig):
    """Django's admin, with a log-in that is counted."""

    default_site = "xqmj_site.staff.StaffSite"
