"""The application as Django sees it."""

from django.apps import AppConfig


class RatingsConfig(AppConfig):
    """Ratings of finished matches."""

    name = "ratings"
    verbose_name = "ratings"
