"""What each player has to know wherever it is, on a board of its own."""

from __future__ import annotations

from matches.live.boards import Boards
from matches.services import news

personal = Boards(news.of)
"""By player."""
