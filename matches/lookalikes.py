"""When two names look alike: the part of Unicode's rules (UTS 39) that names here can need.

No alphabet that copies Latin letters is allowed in a name (see
`matches.services.names`), so of the thousands of confusable pairs these few are left.
"""

from __future__ import annotations

import unicodedata

_ALIKE = str.maketrans(
    {
        # Latin letters that no normal form takes apart.
        "æ": "ae",
        "œ": "oe",
        "ø": "o",
        "đ": "d",
        "ð": "d",
        "ħ": "h",
        "ı": "l",
        "ł": "l",
        # In one typeface or another, in one case or another, the same stroke.
        "0": "o",
        "1": "l",
        "i": "l",
        "m": "rn",
        "w": "vv",
        "_": "-",
        # Kana and Chinese characters of the same shape.
        "へ": "ヘ",
        "エ": "工",
        "ニ": "二",
        "ハ": "八",
        "カ": "力",
        "タ": "夕",
        "ト": "卜",
        "ロ": "口",
        "ミ": "三",
        "チ": "千",
        "オ": "才",
        "ー": "-",
        "一": "-",
        "ㄧ": "-",
    }
)


def skeleton(name: str) -> str:
    """What names that look alike share, whatever their case and accents.

    >>> skeleton("Místy_1") == skeleton("mlsty-I")
    True
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    bare = "".join(
        letter for letter in unicodedata.normalize("NFKD", folded) if not _is_mark(letter)
    )
    return unicodedata.normalize("NFKC", bare.translate(_ALIKE))


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter) == "Mn"
