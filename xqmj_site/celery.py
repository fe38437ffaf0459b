"""The Celery application: tasks only nudge, so losing, doubling or delaying one changes nothing."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "xqmj_site.settings.prod")

app = Celery("xqmj")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
