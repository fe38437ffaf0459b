"""What players say of themselves, and how their clients show the game to them."""

from __future__ import annotations

import unicodedata
from typing import Literal, cast

import msgspec

from matches.models import Player, Profile
from matches.services.errors import ServiceError

Language = Literal["en", "zh-Hans", "zh-Hant"]
Pieces = Literal["hanzi", "western"]
"""Chinese characters, or pictures with letters."""
Notation = Literal["letters", "hanzi"]

BIO_LENGTH = 500
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Letters that control, turn around, hide in or break a text."""

COUNTRIES = frozenset(
    [
        "AD",
        "AE",
        "AF",
        "AG",
        "AI",
        "AL",
        "AM",
        "AO",
        "AQ",
        "AR",
        "AS",
        "AT",
        "AU",
        "AW",
        "AX",
        "AZ",
        "BA",
        "BB",
        "BD",
        "BE",
        "BF",
        "BG",
        "BH",
        "BI",
        "BJ",
        "BL",
        "BM",
        "BN",
        "BO",
        "BQ",
        "BR",
        "BS",
        "BT",
        "BV",
        "BW",
        "BY",
        "BZ",
        "CA",
        "CC",
        "CD",
        "CF",
        "CG",
        "CH",
        "CI",
        "CK",
        "CL",
        "CM",
        "CN",
        "CO",
        "CR",
        "CU",
        "CV",
        "CW",
        "CX",
        "CY",
        "CZ",
        "DE",
        "DJ",
        "DK",
        "DM",
        "DO",
        "DZ",
        "EC",
        "EE",
        "EG",
        "EH",
        "ER",
        "ES",
        "ET",
        "FI",
        "FJ",
        "FK",
        "FM",
        "FO",
        "FR",
        "GA",
        "GB",
        "GD",
        "GE",
        "GF",
        "GG",
        "GH",
        "GI",
        "GL",
        "GM",
        "GN",
        "GP",
        "GQ",
        "GR",
        "GS",
        "GT",
        "GU",
        "GW",
        "GY",
        "HK",
        "HM",
        "HN",
        "HR",
        "HT",
        "HU",
        "ID",
        "IE",
        "IL",
        "IM",
        "IN",
        "IO",
        "IQ",
        "IR",
        "IS",
        "IT",
        "JE",
        "JM",
        "JO",
        "JP",
        "KE",
        "KG",
        "KH",
        "KI",
        "KM",
        "KN",
        "KP",
        "KR",
        "KW",
        "KY",
        "KZ",
        "LA",
        "LB",
        "LC",
        "LI",
        "LK",
        "LR",
        "LS",
        "LT",
        "LU",
        "LV",
        "LY",
        "MA",
        "MC",
        "MD",
        "ME",
        "MF",
        "MG",
        "MH",
        "MK",
        "ML",
        "MM",
        "MN",
        "MO",
        "MP",
        "MQ",
        "MR",
        "MS",
        "MT",
        "MU",
        "MV",
        "MW",
        "MX",
        "MY",
        "MZ",
        "NA",
        "NC",
        "NE",
        "NF",
        "NG",
        "NI",
        "NL",
        "NO",
        "NP",
        "NR",
        "NU",
        "NZ",
        "OM",
        "PA",
        "PE",
        "PF",
        "PG",
        "PH",
        "PK",
        "PL",
        "PM",
        "PN",
        "PR",
        "PS",
        "PT",
        "PW",
        "PY",
        "QA",
        "RE",
        "RO",
        "RS",
        "RU",
        "RW",
        "SA",
        "SB",
        "SC",
        "SD",
        "SE",
        "SG",
        "SH",
        "SI",
        "SJ",
        "SK",
        "SL",
        "SM",
        "SN",
        "SO",
        "SR",
        "SS",
        "ST",
        "SV",
        "SX",
        "SY",
        "SZ",
        "TC",
        "TD",
        "TF",
        "TG",
        "TH",
        "TJ",
        "TK",
        "TL",
        "TM",
        "TN",
        "TO",
        "TR",
        "TT",
        "TV",
        "TW",
        "TZ",
        "UA",
        "UG",
        "UM",
        "US",
        "UY",
        "UZ",
        "VA",
        "VC",
        "VE",
        "VG",
        "VI",
        "VN",
        "VU",
        "WF",
        "WS",
        "YE",
        "YT",
        "ZA",
        "ZM",
        "ZW",
    ]
)
"""ISO 3166-1 alpha-2."""


class Shown(msgspec.Struct, frozen=True):
    """The public part; None: not said."""

    bio: str | None
    country: str | None


class Own(Shown, frozen=True):
    """All of it, for whoever it is."""

    language: Language | None
    pieces: Pieces | None
    notation: Notation | None


def of(player: str) -> Own:
    """The profile of a player (public id in hex), empty where nothing was ever said."""
    row = Profile.objects.filter(player__public_id=player).first() or Profile()
    return Own(
        bio=row.bio or None,
        country=row.country or None,
        language=cast("Language", row.language) if row.language else None,
        pieces=cast("Pieces", row.pieces) if row.pieces else None,
        notation=cast("Notation", row.notation) if row.notation else None,
    )


def change(player: str, fields: dict[str, str | None]) -> Own:
    """Change these fields of a player's own profile, None: to nothing; for a transaction.

    Raises `ServiceError` bad_bio, bad_country.
    """
    written = {name: text or "" for name, text in fields.items()}
    if "bio" in written:
        written["bio"] = _checked_bio(written["bio"])
    if written.get("country") and written["country"] not in COUNTRIES:
        raise ServiceError("bad_country")
    Profile.objects.update_or_create(player=Player.objects.get(public_id=player), defaults=written)
    return of(player)


def _checked_bio(text: str) -> str:
    text = unicodedata.normalize("NFC", text).strip()
    unseen = any(letter != "\n" and unicodedata.category(letter) in _UNSEEN for letter in text)
    if len(text) > BIO_LENGTH or unseen:
        raise ServiceError("bad_bio")
    return text
