"""The project as an app: it brings commands and checks."""

from django.apps import AppConfig


class SiteConfig(AppConfig):
    """Registers the checks of the database."""

    name = "xqmj_site"

    def ready(self) -> None:
        """Register the checks."""
        from xqmj_site import checks  # noqa: F401 - importing it registers them
