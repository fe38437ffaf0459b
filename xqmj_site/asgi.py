"""The entry point of the live role: streams that stay open."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "xqmj_site.settings.prod")
django.setup()

from matches.live import routing  # noqa: E402 - needs the set-up above
from xqmj_site import checks, collector, exporter  # noqa: E402

checks.refuse_unfit_database()
application = routing.application
exporter.serve()
collector.seldom()
