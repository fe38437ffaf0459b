"""Mails: written and sent by another thread, so that no answer waits for a mail server.

What an address is (known, verified, nobody's) is looked up by that thread too: an
answer is given after the same work, and in the same time, whatever is found. A
mail that cannot be sent is lost; whoever waits for it asks again.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import close_old_connections

from matches.services.outbox import Outbox

LOG = logging.getLogger("xqmj.services")

CAPACITY = 200
STALE_S = 600.0
"""A mail server that hangs may hold the others up for so long."""

Write = Callable[[], EmailMessage | None]
"""Writes a mail, or finds that there is nobody to write to."""


def _send(batch: Sequence[Write]) -> None:
    for write in batch:
        close_old_connections()
        try:
            mail = write()
            if mail is not None:
                mail.send()
        except Exception:
            LOG.warning("a mail was not sent", exc_info=settings.DEBUG)
        finally:
            close_old_connections()


def _outbox() -> Outbox[Write]:
    return Outbox("mail", _send, capacity=CAPACITY, stale_s=STALE_S)


_box = _outbox()


def put(write: Write) -> None:
    """Have a mail written and sent soon; returns at once."""
    _box.put(write)


def flush() -> None:
    """Send what waits: for an orderly end."""
    _box.close()


def coded(*, to: str, action: str, text: str, code: str) -> EmailMessage:
    """A mail with a code, as a link where `XQMJ_MAIL_LINK` says what links are like."""
    link = settings.XQMJ_MAIL_LINK
    shown = link.format(action=action, code=code) if link else code
    body = f"{text}\n\n{shown}\n\nIf you did not ask for this, do nothing.\n"
    return EmailMessage(subject=f"xqmj: {action}", body=body, to=[to])


def _forget() -> None:
    """After a fork: the thread is the parent's."""
    global _box  # noqa: PLW0603 - one a process is the point
    _box = _outbox()


os.register_at_fork(after_in_child=_forget)
