"""The entry point of the live role: streams that stay open."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "xqmj_site.settings.prod")
django.setup()

from channels.routing import ProtocolTypeRouter  # noqa: E402 - needs the set-up above

from matches.live import routing  # noqa: E402
from xqmj_site import checks, collector, exporter  # noqa: E402

checks.refuse_unfit_database()
application = ProtocolTypeRouter({"http": routing.application, "websocket": routing.refuse_socket})
exporter.serve()
collector.seldom()
