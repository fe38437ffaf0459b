"""The project as an app: it brings commands and checks."""

from django.apps import AppConfig


class SiteConfig(AppConfig):
    """Registers the checks of the database, and the Celery application that tasks belong to."""

    name = "xqmj_site"

    def ready(self) -> None:
        """Import what registers itself."""
        from xqmj_site import celery, checks  # noqa: F401 - the import is the point
