"""The rulesets of the family as they are offered to players."""

from __future__ import annotations

from matches.games.names import Names
from matches.games.ruleset import Entry, Option, Ruleset
from matches.games.xqmj.rules import TwoPlayerRules

LAST_DISCARD_CLAIMS = Option(
    key="last_discard_claims",
    values=("win_only", "all"),
    default="win_only",
    names=Names("Claims on the last discard", "最后一张弃牌可吃碰", "最後一張棄牌可吃碰"),
)
"""Whether a discard made at an empty wall may be claimed for a meld too (XM-33)."""

ABSENCE_CLAIM_MS = Option(
    key="absence_claim_ms",
    values=(0, 30_000, 60_000, 120_000),
    default=60_000,
    names=Names("Absence until the win may be claimed", "对手离线判胜时限", "對手離線判勝時限"),
)
"""How long the seat to act may show no activity until the other may claim the win; 0: for ever
(XM-87)."""

XQMJ_32_2P = Ruleset(
    key=TwoPlayerRules.key,
    version=TwoPlayerRules.version,
    names=Names("Xiangqi mahjong for two", "双人象棋麻将", "雙人象棋麻將"),
    seats=TwoPlayerRules.seats,
    controls=TwoPlayerRules.controls,
    rated_controls=tuple(
        name for name in TwoPlayerRules.controls if name in TwoPlayerRules.rated_controls
    ),
    options=(LAST_DISCARD_CLAIMS, ABSENCE_CLAIM_MS),
)
"""Two-player xiangqi mahjong with one set of 32 tiles."""

ENTRIES: tuple[Entry, ...] = (
    Entry(XQMJ_32_2P, TwoPlayerRules, later=frozenset({ABSENCE_CLAIM_MS.key})),
)
