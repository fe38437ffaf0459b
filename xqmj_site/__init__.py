"""The Django project: settings, entry points, and the servers beside them."""

from xqmj_site.celery import app as celery_app

__all__ = ["celery_app"]
