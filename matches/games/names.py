"""Names in the languages that every interface of the server speaks."""

from __future__ import annotations

from typing import Literal

import msgspec

Lang = Literal["en", "zh-Hans", "zh-Hant"]
"""A language by its BCP 47 tag: English, simplified Chinese, traditional Chinese."""

LANGS: tuple[Lang, ...] = ("en", "zh-Hans", "zh-Hant")


class Names(
    msgspec.Struct,
    frozen=True,
    gc=False,
    rename={"zh_hans": "zh-Hans", "zh_hant": "zh-Hant"},
):
    """What one thing is called in each language; on the wire the keys are the language tags.

    >>> Names("Win", "胜", "勝").in_("zh-Hant")
    '勝'
    """

    en: str
    zh_hans: str
    zh_hant: str

    def in_(self, lang: Lang) -> str:
        """The name in one language."""
        if lang == "en":
            return self.en
        return self.zh_hans if lang == "zh-Hans" else self.zh_hant
