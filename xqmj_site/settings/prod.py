"""Production: refuses to start without what must be secret or must be true."""

from xqmj_site import environ
from xqmj_site.settings.base import *
from xqmj_site.settings.base import databases

DEBUG = False
SECRET_KEY = environ.text("SECRET_KEY")
SECRET_KEY_FALLBACKS = environ.words("SECRET_KEY_FALLBACKS", "")
ALLOWED_HOSTS = environ.words("ALLOWED_HOSTS")

DATABASE_URL = environ.text("DATABASE_URL")
DATABASE_OWNER_URL = environ.text("DATABASE_OWNER_URL", DATABASE_URL)
DATABASES = databases(DATABASE_URL, DATABASE_OWNER_URL)
REDIS_URL = environ.text("REDIS_URL")
BROKER_URL = environ.text("BROKER_URL", REDIS_URL)
CELERY_BROKER_URL = BROKER_URL
XQMJ_SEAL_KEYS = environ.seal_keys(environ.text("XQMJ_SEAL_KEYS"))
