"""What is true of xqmj wherever it runs."""

from __future__ import annotations

import os
import socket
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from xqmj_site import environ, logs

BASE_DIR = Path(__file__).resolve().parent.parent.parent

INSTALLED_APPS = [
    "xqmj_site.apps.StaffConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "xqmj_site.apps.SiteConfig",
    "matches",
    "ratings",
]

MIDDLEWARE = [
    # First: what goes to the API passes none of the others, which are for pages.
    "matches.api.gate.ApiGate",
    "django.middleware.security.SecurityMiddleware",
    "xqmj_site.middleware.content_security_policy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "xqmj_site.urls"
WSGI_APPLICATION = "xqmj_site.wsgi.application"
ASGI_APPLICATION = "xqmj_site.asgi.application"
APPEND_SLASH = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

AUTH_USER_MODEL = "matches.Player"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT: Path | None = BASE_DIR / "staticfiles"

XQMJ_LIVE_URL = environ.text("XQMJ_LIVE_URL", "")
"""Where clients open streams, when that is another origin than the API's."""
XQMJ_LIVE_ORIGINS = environ.words("XQMJ_LIVE_ORIGINS", "")
"""Pages of these origins, besides those of its own host, may open sockets of the live role."""

# --- PostgreSQL -------------------------------------------------------------------------------
# Every session of ours carries these: a stuck statement, lock or transaction frees itself.
SESSION_OPTIONS = (
    "-c statement_timeout=3000 -c lock_timeout=2000 -c idle_in_transaction_session_timeout=5000"
)
XQMJ_APP_ROLE = environ.text("XQMJ_APP_ROLE", "xqmj_app")
"""The role the server runs as: SELECT and EXECUTE only on the log."""
XQMJ_OWNER_ROLE = environ.text("XQMJ_OWNER_ROLE", "xqmj_owner")
"""The role that owns every table and runs migrations."""
XQMJ_AUDITOR_ROLE = environ.text("XQMJ_AUDITOR_ROLE", "xqmj_auditor")
"""The role that only reads the log."""


XQMJ_APPEND_ONLY_TABLES = ["public.ratings_ratingevent"]
"""Logs outside the schema `es`, as schema.table: the start-up check guards them too."""


def acts_as_owner(argv: list[str]) -> bool:
    """Tell whether this process changes the schema, and so needs the owner's role."""
    return os.environ.get("XQMJ_DB_OWNER") == "1" or argv[1:2] == ["migrate"]


def databases(app_url: str, owner_url: str) -> dict[str, dict[str, Any]]:
    """Return DATABASES: the app's role, or the owner's where the schema is changed."""
    if acts_as_owner(sys.argv):
        # A migration may build an index for longer than any request may wait.
        plain = "django.db.backends.postgresql"
        options = "-c lock_timeout=10000"
        return {"default": environ.database(owner_url, options=options, engine=plain)}
    return {"default": environ.database(app_url, options=SESSION_OPTIONS)}


# --- Processes --------------------------------------------------------------------------------
XQMJ_IS_WEB = environ.text("XQMJ_ROLE", "none") == "web"
"""This process takes commands: while it lives players can move, and it says so (docs/adr/0003)."""
XQMJ_POOL_SIZE = environ.number("XQMJ_POOL_SIZE", 10)
"""Connections to the log, at most, of one process."""
XQMJ_CACHE_MATCHES = environ.number("XQMJ_CACHE_MATCHES", 1024)
"""Folded matches that one process remembers."""
XQMJ_LONGPOLL_WAITERS = environ.longpoll_waiters(environ.number("WEB_THREADS", 32))
"""Long polls that may wait in one process: half of its threads (docs/adr/0011)."""
XQMJ_LIVE_STREAMS = environ.number("XQMJ_LIVE_STREAMS", 2000)
"""Streams and sockets that one live process holds."""
XQMJ_LIVE_STREAMS_A_PLAYER = environ.number("XQMJ_LIVE_STREAMS_A_PLAYER", 5)
"""Streams and sockets of one player that one live process holds."""
XQMJ_SWEEP_THREADS = environ.number("XQMJ_SWEEP_THREADS", 4)
"""Matches that a worker's sweep settles at the same time."""
XQMJ_NUDGE_WITHIN_MS = environ.number("XQMJ_NUDGE_WITHIN_MS", 60_000)
"""Waits up to this long get a nudge through Celery, a few a second; 0: none, the sweep's own
loop is enough."""

XQMJ_ABORTS = environ.number("XQMJ_ABORTS", 3)
"""Whoever aborts so many matches before the first deal has to cool down,"""
XQMJ_ABORTS_WITHIN_S = environ.number("XQMJ_ABORTS_WITHIN_S", 3_600)
"""if it was within so many seconds,"""
XQMJ_COOLDOWN_S = environ.number("XQMJ_COOLDOWN_S", 900)
"""for so many seconds after the last of them."""

XQMJ_RATINGS_OF = "xqmj_site.standings.ratings_of"
"""What knows the ratings of those who listen: a `ports.RatingsOf`."""
XQMJ_ADDRESS_DAYS = environ.number("XQMJ_ADDRESS_DAYS", 30)
"""Days for which a keyed hash of the address is kept from which an account was last entered."""
XQMJ_FLAG_DAYS = environ.number("XQMJ_FLAG_DAYS", 180)
"""Days for which facts for moderators are kept."""

XQMJ_BOT_MATCHES = environ.number("XQMJ_BOT_MATCHES", 8)
"""Matches that a bot account plays at a time."""

XQMJ_AT_START = "xqmj_site.standings.at_start"
"""What knows how strong the players of a match were when it began: a `ports.AtStart`."""
XQMJ_RATED_TASK = "ratings.apply_finished"
"""The task that is sent when a rated match has finished; empty: none, beat sends it anyway."""
XQMJ_METRICS_PORT = environ.number("XQMJ_METRICS_PORT", 0)
"""Where Prometheus may ask this role; 0: nowhere, and nothing is kept for it."""
XQMJ_METRICS_HOST = environ.text("XQMJ_METRICS_HOST", "127.0.0.1")
"""The address of that port."""

# --- Sealing and passwords --------------------------------------------------------------------
XQMJ_SEAL_KEYS: dict[str, bytes] = {}
"""Keys that seal a match's secret, by key id; the first is the current one."""

PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]

REST_KNOX = {"TOKEN_TTL": timedelta(days=environ.number("XQMJ_TOKEN_DAYS", 14))}
"""How long a token lasts; a guest is nobody any more when its token has expired."""

PASSWORD_RESET_TIMEOUT = 3600
"""A code for another password is good for so many seconds."""

# --- Mail -------------------------------------------------------------------------------------
EMAIL_HOST = environ.text("EMAIL_HOST", "")
"""The SMTP server; without one, mails are written to standard output."""
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'console'}.EmailBackend"
EMAIL_PORT = environ.number("EMAIL_PORT", 587)
EMAIL_HOST_USER = environ.text("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = environ.text("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = environ.flag("EMAIL_USE_TLS", default=True)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = environ.text("DEFAULT_FROM_EMAIL", "xqmj@localhost")
XQMJ_MAIL_LINK = environ.text("XQMJ_MAIL_LINK", "")
"""What a link in a mail is like, with {action} (verify or reset) and {code}; empty: mails hold
the code alone."""

# --- What a browser is told -------------------------------------------------------------------
XQMJ_CONTENT_SECURITY_POLICY: dict[str, list[str]] = {
    "default-src": ["'self'"],
    "img-src": ["'self'", "data:"],
    # A source of http lets no socket pass.
    "connect-src": [
        "'self'",
        *([XQMJ_LIVE_URL, XQMJ_LIVE_URL.replace("http", "ws", 1)] if XQMJ_LIVE_URL else []),
    ],
    "object-src": ["'none'"],
    "base-uri": ["'none'"],
    "form-action": ["'self'"],
    "frame-ancestors": ["'none'"],
}
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"

# --- What a client may send -------------------------------------------------------------------
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200
DATA_UPLOAD_MAX_NUMBER_FILES = 0

# --- REST -------------------------------------------------------------------------------------
XQMJ_NUM_PROXIES = environ.number("XQMJ_NUM_PROXIES", 0)
"""Reverse proxies in front of us; addresses in X-Forwarded-For beyond them are made up."""

XQMJ_THROTTLES: dict[str, str] = environ.pairs("XQMJ_THROTTLES", "")
"""Other limits than `matches.services.throttling.DEFAULTS`, such as `play=1200/60,login=5/60`."""

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["matches.api.identity.BearerAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_THROTTLE_CLASSES": ["matches.api.drf.ScopeThrottle"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "matches.api.drf.JsonOnly",
    "DEFAULT_PARSER_CLASSES": ["matches.api.drf.JsonBody"],
    "DEFAULT_RENDERER_CLASSES": ["matches.api.drf.PlainJSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "matches.api.faults.handle",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,
}

SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "xqmj",
    "DESCRIPTION": "A match server for xiangqi mahjong that keeps the whole truth.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "POSTPROCESSING_HOOKS": ["matches.api.schema.add_components"],
}

# --- Celery -----------------------------------------------------------------------------------
# docs/adr/0006 says why each of these: a task is a hint, and a hint must never cost more than
# its own work.
CELERY_TASK_SERIALIZER = "json"
CELERY_RESULT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_RESULT_BACKEND = None
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_SOFT_TIME_LIMIT = 20
CELERY_TASK_TIME_LIMIT = 30
CELERY_BROKER_CONNECTION_RETRY = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_TASK_DEFAULT_QUEUE = "xqmj"
CELERY_TIMEZONE = "UTC"


# Seconds, seconds, and how often. A worker that waits for a task sends nothing: only the kernel can
# notice that nobody is there any more, and left to itself it looks after two hours.
_KEEPALIVE = {
    getattr(socket, name): value
    for name, value in (("TCP_KEEPIDLE", 5), ("TCP_KEEPINTVL", 1), ("TCP_KEEPCNT", 3))
    if hasattr(socket, name)
}


def broker_options(url: str) -> dict[str, Any]:
    """Return what a connection to this broker is made with: AMQP knows none of Redis's options."""
    if not url.startswith(("redis:", "rediss:", "redis+socket:")):
        return {}
    return {
        # A task that a lost worker held comes back after so long; late tasks change nothing.
        "visibility_timeout": 120,
        "socket_timeout": 5,
        "socket_connect_timeout": 2,
        "socket_keepalive": True,
        "socket_keepalive_options": _KEEPALIVE,
    }


# Only the sweep may expire: a worker whose clock is ahead drops what does, and sweeps by itself.
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "matches.sweep", "schedule": 1.0, "options": {"expires": 1}},
    "look-for-flags": {"task": "matches.look_for_flags", "schedule": 3600.0},
    "forget-expired": {"task": "matches.forget_expired", "schedule": 3600.0},
    "apply-finished": {"task": "ratings.apply_finished", "schedule": 5.0},
}

# --- Logging ----------------------------------------------------------------------------------
LOGGING = logs.configure(
    form=environ.text("XQMJ_LOG_FORMAT", "json"), level=environ.text("XQMJ_LOG_LEVEL", "INFO")
)
