"""Logging: one line an event, as JSON, with nothing in it that could forge or colour a line.

Names, paths and user agents come from strangers. JSON in ASCII escapes line
ends, terminal codes and bidirectional marks alike, so that a line of the log is
always one event and always reads as what it is. Values under telling names
(tokens, passwords, secrets) are replaced, wherever they come from.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import MutableMapping
from typing import Any

import structlog
from structlog.typing import EventDict, Processor

REDACTED = "[redacted]"
SECRET_WORDS = ("authorization", "cookie", "nonce", "password", "secret", "seal", "token")


def redact(_logger: Any, _method: str, event: EventDict) -> EventDict:
    """Replace values whose key speaks of a secret."""
    for key in event:
        if any(word in key.lower() for word in SECRET_WORDS):
            event[key] = REDACTED
    return event


def as_json(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> str:
    """Render one event as one line of ASCII."""
    return json.dumps(event, ensure_ascii=True, default=repr)


def visible(text: str) -> str:
    """Return the text with everything escaped that does not print as itself."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )


def as_text(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> str:
    """Render one event for a person, in visible letters only; a traceback follows indented."""
    words = [str(event.pop("timestamp", "")), str(event.pop("level", "")).upper()]
    words.append(str(event.pop("event", "")))
    trace = str(event.pop("exception", ""))
    words += [f"{key}={value!r}" for key, value in event.items()]
    lines = [visible(" ".join(words))]
    lines += [f"    {visible(line)}" for line in trace.splitlines()]
    return "\n".join(lines)


PROCESSORS: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
    structlog.processors.format_exc_info,
    redact,
]
"""What happens to every event, whether it came through structlog or through `logging`."""


def formatter(form: str | None = None) -> logging.Formatter:
    """Return the formatter for `json` or `text` (`XQMJ_LOG_FORMAT` when not said)."""
    form = form or os.environ.get("XQMJ_LOG_FORMAT") or "json"
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=PROCESSORS,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            as_json if form == "json" else as_text,
        ],
    )


class Known(logging.Filter):
    """Drops a remark of the web server that is known and answered.

    It advises against more threads than cores. Ours wait for the database and
    in long polls far more than they compute (docs/adr/0007).
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep every other record."""
        return "allows spawning up to" not in record.getMessage()


def configure(*, form: str, level: str) -> dict[str, Any]:
    """Configure structlog and return Django's LOGGING; `form` is `json` or `text`."""
    structlog.configure(
        processors=[*PROCESSORS, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": formatter, "form": form}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.server": {"handlers": [], "level": level, "propagate": True},
            # A client's mistake is the client's: it is counted, not logged as a warning each.
            "django.request": {"level": "ERROR"},
            "django.security.DisallowedHost": {"level": "ERROR"},
            # Three lines a second about a sweep that found nothing.
            "celery.beat": {"level": "WARNING"},
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
        },
    }
