"""The entry point of the web role: REST and pages, under threads."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "xqmj_site.settings.prod")
rest = get_wsgi_application()

from matches.api.moves import Moves  # noqa: E402 - needs the settings that the line above loads
from matches.services import heartbeat  # noqa: E402
from xqmj_site import checks, collector, exporter  # noqa: E402

application = Moves(rest)

checks.refuse_unfit_database()
# A server that nobody has asked anything yet is no server that is down.
heartbeat.ensure()
exporter.serve()
collector.seldom()
