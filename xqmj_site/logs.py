"""Logging: one line an event, as JSON, with nothing in it that could forge or colour a line.

Names, paths and user agents come from strangers. JSON in ASCII escapes line
ends, terminal codes and bidirectional marks alike, so that a line of the log is
always one event and always reads as what it is. Values under telling names
(tokens, passwords, secrets) are replaced, wherever they come from.
"""

from __future__ import annotations

import json
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


def as_text(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> str:
    """Render one event for a person, every value quoted so that it stays on its line."""
    head = [str(event.pop("timestamp", "")), str(event.pop("level", "")).upper()]
    message = json.dumps(str(event.pop("event", "")), ensure_ascii=True)[1:-1].replace('\\"', '"')
    trace = str(event.pop("exception", ""))
    pairs = [f"{key}={json.dumps(value, default=repr)}" for key, value in event.items()]
    lines = [" ".join([*head, message, *pairs])]
    lines += [f"  | {json.dumps(line)[1:-1]}" for line in trace.splitlines()]
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
        "formatters": {
            "line": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": PROCESSORS,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    as_json if form == "json" else as_text,
                ],
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.server": {"handlers": [], "level": level, "propagate": True},
            # A client's mistake is the client's: it is counted, not logged as a warning each.
            "django.request": {"level": "ERROR"},
            "django.security.DisallowedHost": {"level": "ERROR"},
        },
    }
