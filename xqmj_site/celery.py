"""The Celery application: tasks only nudge, so losing, doubling or delaying one changes nothing."""

import os
from typing import Any

from celery import Celery, signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "xqmj_site.settings.prod")

app = Celery("xqmj")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["worker"].add("matches.worker:Loops")
app.steps["worker"].add("xqmj_site.exporter:Exporter")


@signals.setup_logging.connect
def keep_our_logging(**_: Any) -> None:
    """Keep Celery from replacing the logging that settings configured."""


@signals.worker_init.connect
def refuse_unfit_database(**_: Any) -> None:
    """Look at the database before the first task."""
    from xqmj_site import checks

    checks.refuse_unfit_database()


@signals.worker_process_init.connect
@signals.worker_ready.connect
def collect_seldom(**_: Any) -> None:
    """In the worker and in each process of its pool: by now everything is imported."""
    from xqmj_site import collector

    collector.seldom()
