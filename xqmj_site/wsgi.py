"""The entry point of the web role: REST and pages, under threads."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "xqmj_site.settings.prod")
application = get_wsgi_application()

from matches.services import heartbeat  # noqa: E402 - needs the settings that the line above loads
from xqmj_site import checks, exporter  # noqa: E402

checks.refuse_unfit_database()
# A server that nobody has asked anything yet is no server that is down.
heartbeat.ensure()
exporter.serve()
