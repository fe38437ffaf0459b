"""The web role's application as a release to come may be: it writes discards of version 2."""

from __future__ import annotations

from typing import Any

from matches.eventstore import codec
from matches.eventstore.codec import Codec
from matches.games.xqmj.events import TileDiscarded
from tests.faults import ours


def _renew() -> None:
    TileDiscarded.V = 2
    lifted = {("xqmj.tile_discarded", 1): lambda payload: payload}
    newer: Any = codec
    newer.CODEC = Codec(codec._event_types(), lifted)
    newer.encode, newer.decode = newer.CODEC.encode, newer.CODEC.decode
    newer.decode_rows = newer.CODEC.decode_rows


_renew()
application = ours.application
