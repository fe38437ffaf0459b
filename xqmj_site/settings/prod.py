"""Production: refuses to start without what must be secret or must be true."""

from xqmj_site import environ
from xqmj_site.settings.base import *
from xqmj_site.settings.base import XQMJ_NUM_PROXIES, broker_options, databases

DEBUG = False
SECRET_KEY = environ.text("SECRET_KEY")
SECRET_KEY_FALLBACKS = environ.words("SECRET_KEY_FALLBACKS", "")
ALLOWED_HOSTS = environ.words("ALLOWED_HOSTS")
CSRF_TRUSTED_ORIGINS = environ.words("CSRF_TRUSTED_ORIGINS", "")

DATABASE_URL = environ.text("DATABASE_URL")
DATABASE_OWNER_URL = environ.text("DATABASE_OWNER_URL", DATABASE_URL)
DATABASES = databases(DATABASE_URL, DATABASE_OWNER_URL)
REDIS_URL = environ.text("REDIS_URL")
BROKER_URL = environ.text("BROKER_URL", REDIS_URL)
CELERY_BROKER_URL = BROKER_URL
CELERY_BROKER_TRANSPORT_OPTIONS = broker_options(BROKER_URL)
XQMJ_SEAL_KEYS = environ.seal_keys(environ.text("XQMJ_SEAL_KEYS"))

# --- HTTPS ------------------------------------------------------------------------------------
# Pages move to HTTPS. The API does not redirect: a client that once sent its token in the clear
# must fail at once, not be led on. Probes ask from inside, without TLS.
SECURE_SSL_REDIRECT = True
SECURE_REDIRECT_EXEMPT = [r"^api/", r"^health"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SECURE_HSTS_PRELOAD = True
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
if XQMJ_NUM_PROXIES:
    # Only a proxy of ours may say so: it must overwrite the header (xqmj_site/proxy/Caddyfile).
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
