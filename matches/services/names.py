"""Names that players choose, and those that nobody may."""

from __future__ import annotations

import secrets
import unicodedata

from matches.services.errors import ServiceError

SHORTEST, LONGEST = 3, 24
LONGEST_SENT = 256
"""Nothing longer is even looked at: normalising may lengthen and costs time."""

_RESERVED = frozenset(
    {
        *("admin", "administrator", "moderator", "official", "root", "staff", "superuser"),
        *("auditor", "server", "support", "system", "xqmj"),
        *("anonymous", "deleted", "everyone", "guest", "nobody", "null", "undefined"),
        *("bot", "computer", "me", "player", "seat", "spectator"),
    }
)
_RESERVED_BEGINNINGS = ("guest-", "computer-", "bot-", "xqmj-", "xqmj_")


def chosen(name: str) -> str:
    """The name as it is kept: compatibility forms folded (NFKC), 3 to 24 letters, digits, _ or -.

    Raises `ServiceError` bad_username, username_reserved.
    """
    if len(name) > LONGEST_SENT:
        raise ServiceError("bad_username")
    name = unicodedata.normalize("NFKC", name)
    if not SHORTEST <= len(name) <= LONGEST or name[0] in "_-" or not all(map(_allowed, name)):
        raise ServiceError("bad_username")
    folded = name.casefold()
    if folded in _RESERVED or folded.startswith(_RESERVED_BEGINNINGS):
        raise ServiceError("username_reserved")
    return name


def may_exist(name: str) -> bool:
    """Whether it is worth looking for a player of that name: some texts PostgreSQL cannot hold."""
    return 0 < len(name) <= LONGEST_SENT and name.isprintable()


def for_guest() -> str:
    """A name that no guest is called by: accounts have one, and it must be unique."""
    return f"guest-{secrets.token_hex(10)}"


def _allowed(letter: str) -> bool:
    return letter.isalpha() or letter.isdecimal() or letter in "_-"
