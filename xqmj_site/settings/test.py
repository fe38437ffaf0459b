"""Tests: throw-away servers whose addresses tests/conftest.py sets once they run."""

from xqmj_site import environ
from xqmj_site.settings.base import *
from xqmj_site.settings.base import broker_options, databases

DEBUG = False
SECRET_KEY = "only-for-tests-" + "x" * 50
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]

# Nobody listens there: a test that forgot to ask for the servers fails at once.
DATABASE_URL = environ.text("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/not-started")
DATABASE_OWNER_URL = environ.text("DATABASE_OWNER_URL", DATABASE_URL)
DATABASES = databases(DATABASE_URL, DATABASE_OWNER_URL)
REDIS_URL = environ.text("REDIS_URL", "redis://127.0.0.1:1/0")
BROKER_URL = environ.text("BROKER_URL", REDIS_URL)
CELERY_BROKER_URL = BROKER_URL
CELERY_BROKER_TRANSPORT_OPTIONS = broker_options(BROKER_URL)
XQMJ_SEAL_KEYS = environ.seal_keys(f"t1:{'A' * 43}=")

# The real hasher at its smallest: what a test shows about passwords must not hang on a stand-in.
PASSWORD_HASHERS = ["xqmj_site.hashers.CheapArgon2PasswordHasher"]
# All tests are one address, and play faster than people.
XQMJ_THROTTLES = dict.fromkeys(
    (
        "address",
        "play",
        "read",
        "write",
        "verify",
        "login",
        "register",
        "guest",
        "mail",
        "new_match",
        "new_seek",
        "new_challenge",
        "connect",
    ),
    "1000000/60",
)
STATIC_ROOT = None
# Nobody takes tasks from the broker of the tests.
XQMJ_NUDGE_WITHIN_MS = 0
XQMJ_RATED_TASK = ""
# The test process answers as a web process does.
XQMJ_IS_WEB = environ.text("XQMJ_ROLE", "web") == "web"
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
