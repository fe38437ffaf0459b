"""The entry point of the live role: streams that stay open."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "xqmj_site.settings.prod")
application = get_asgi_application()

from xqmj_site import checks  # noqa: E402 - needs the settings that the line above loads

checks.refuse_unfit_database()
