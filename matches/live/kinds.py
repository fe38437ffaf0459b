"""The boards that there are: each player's own, and the lobby, which all share."""

from __future__ import annotations

from collections.abc import Collection

from matches.live.boards import Boards, Things
from matches.services import news, seeking

LOBBY = "lobby"
"""The name of the lobby's one board."""


def _lobby(_boards: Collection[str]) -> dict[str, Things]:
    return {LOBBY: seeking.board()}


personal = Boards(news.of)
"""By player (id in hex)."""
lobby = Boards(_lobby)
"""The open seeks."""
