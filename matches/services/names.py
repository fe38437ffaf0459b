"""Names that players choose, and those that nobody may."""

from __future__ import annotations

import secrets
import unicodedata

from matches.lookalikes import skeleton
from matches.services.errors import ServiceError

SHORTEST, LONGEST = 3, 24
LONGEST_SENT = 256
"""Nothing longer is even looked at: normalising may lengthen and costs time."""

_ANYWHERE = frozenset("0123456789_-")
_TOGETHER = (
    frozenset({"LATIN"}),
    frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "BOPOMOFO"}),
    frozenset({"CJK", "HANGUL"}),
)
"""Scripts, by the first word of their letters' names, that a name may mix."""

_RESERVED = frozenset(
    skeleton(name)
    for name in (
        *("admin", "administrator", "moderator", "official", "root", "staff", "superuser"),
        *("auditor", "server", "support", "system", "xqmj"),
        *("anonymous", "deleted", "everyone", "guest", "nobody", "null", "undefined"),
        *("bot", "computer", "me", "player", "seat", "spectator"),
    )
)
_RESERVED_BEGINNINGS = tuple(
    skeleton(name) for name in ("guest-", "computer-", "bot-", "closed-", "xqmj-")
)


def chosen(name: str) -> str:
    """The name as it is kept: compatibility forms folded (NFKC), 3 to 24 letters, digits, _ or -.

    Its letters are Latin, or Chinese with Japanese or Bopomofo, or Chinese with
    Korean, and never of two of these at once. Alphabets that copy Latin letters
    (Cyrillic and Greek above all) are left out, so that what still looks alike fits
    into a table of our own: `matches.lookalikes`.

    Raises `ServiceError` bad_username, username_reserved.
    """
    if len(name) > LONGEST_SENT:
        raise ServiceError("bad_username")
    name = unicodedata.normalize("NFKC", name)
    if not SHORTEST <= len(name) <= LONGEST or name[0] in "_-" or not _is_of_one_script(name):
        raise ServiceError("bad_username")
    shape = skeleton(name)
    if shape in _RESERVED or shape.startswith(_RESERVED_BEGINNINGS):
        raise ServiceError("username_reserved")
    return name


def may_exist(name: str) -> bool:
    """Whether it is worth looking for a player of that name: some texts PostgreSQL cannot hold."""
    return 0 < len(name) <= LONGEST_SENT and name.isprintable()


def for_guest() -> str:
    """A name that no guest is called by: accounts have one, and it must be unique."""
    return f"guest-{secrets.token_hex(10)}"


def _is_of_one_script(name: str) -> bool:
    scripts = {_script(letter) for letter in name if letter not in _ANYWHERE}
    return any(scripts <= together for together in _TOGETHER)


def _script(letter: str) -> str:
    """The first word of the letter's name in Unicode; "" for what no name may hold."""
    if not letter.isalpha() and letter != "ー":
        return ""
    script = unicodedata.name(letter, "").partition(" ")[0]
    if script == "LATIN" and not skeleton(letter).isascii():
        # Phonetic and other letters that are Latin to Unicode alone.
        return ""
    return script
