"""Development on one machine: loopback only, servers and keys from `manage.py up`."""

import os
import secrets

from xqmj_site import environ, logs
from xqmj_site.settings.base import *
from xqmj_site.settings.base import broker_options, databases

DEBUG = environ.flag("DEBUG", default=False)
# A command beside no running `make up` has no key of its own: nothing it signs outlives it.
SECRET_KEY = os.environ.get("SECRET_KEY") or secrets.token_urlsafe(50)
ALLOWED_HOSTS = environ.words("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")

DATABASE_URL = environ.text("DATABASE_URL", "postgresql:///xqmj")
DATABASE_OWNER_URL = environ.text("DATABASE_OWNER_URL", DATABASE_URL)
DATABASES = databases(DATABASE_URL, DATABASE_OWNER_URL)
REDIS_URL = environ.text("REDIS_URL", "redis://127.0.0.1:6379/0")
BROKER_URL = environ.text("BROKER_URL", REDIS_URL)
CELERY_BROKER_URL = BROKER_URL
CELERY_BROKER_TRANSPORT_OPTIONS = broker_options(BROKER_URL)
if "XQMJ_SEAL_KEYS" in os.environ:
    XQMJ_SEAL_KEYS = environ.seal_keys(os.environ["XQMJ_SEAL_KEYS"])

# Static files come from where they lie: no collectstatic before the first page.
STATIC_ROOT = None
WHITENOISE_USE_FINDERS = True

LOGGING = logs.configure(
    form=environ.text("XQMJ_LOG_FORMAT", "text"), level=environ.text("XQMJ_LOG_LEVEL", "INFO")
)
