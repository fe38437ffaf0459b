"""How strong the players of a match were when it began, and what it was about: kept for ever.

What ratings say is asked once, written down beside the log, and never changed
by what they say later. Each process remembers what it has read, so that a look
at a match costs no more for it.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from functools import lru_cache
from typing import cast
from uuid import UUID

import msgspec
from django.conf import settings
from django.utils.module_loading import import_string

from matches.domain.events import MatchCreated, SeatTaken
from matches.eventstore import pool
from matches.services import people
from matches.services.cache import Entry
from matches.services.ports import AtStart, Standing

Standings = tuple[Standing | None, ...]

REMEMBERED = 10_000
AGAIN_S = 1.0
"""What was not known yet is asked for again after this."""

_FIND = "SELECT match_id, standings::text FROM matches_start WHERE match_id = ANY (%s::uuid[])"
_KEEP = """
INSERT INTO matches_start (match_id, standings) VALUES (%s, %s) ON CONFLICT DO NOTHING RETURNING 1
"""

_decode = msgspec.json.Decoder(Standings).decode


class _Remembered:
    """What was read last, each until an instant of the monotonic clock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[UUID, tuple[float, Standings]] = OrderedDict()

    def get(self, match_id: UUID) -> Standings | None:
        with self._lock:
            until_s, found = self._known.get(match_id, (0.0, ()))
        return found if until_s > time.monotonic() else None

    def put(self, match_id: UUID, found: Standings, *, for_s: float = float("inf")) -> None:
        with self._lock:
            self._known[match_id] = (time.monotonic() + for_s, found)
            self._known.move_to_end(match_id)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)


_remembered = _Remembered()


def of(entry: Entry) -> Standings:
    """The standings by seat; empty while a seat is free, nothing is rated, or they are not known.

    Raises `Unavailable`.
    """
    known = _remembered.get(entry.match_id)
    if known is not None or None in entry.match.players:
        return known or ()
    found = _read((entry.match_id,)).get(entry.match_id)
    if found is None:
        found = _asked(entry)
        if found is None:
            _remembered.put(entry.match_id, (), for_s=AGAIN_S)
            return ()
        pool.run(_KEEP, (str(entry.match_id), msgspec.json.encode(found).decode()))
        # Whoever wrote them first has said it for everybody.
        found = _read((entry.match_id,))[entry.match_id]
    return found


def known(match_ids: Iterable[UUID]) -> dict[UUID, Standings]:
    """The standings of those matches of which they are written down; at most one trip.

    Raises `Unavailable`.
    """
    found, missing = {}, set()
    for match_id in match_ids:
        remembered = _remembered.get(match_id)
        if remembered:
            found[match_id] = remembered
        else:
            missing.add(match_id)
    return found | (_read(missing) if missing else {})


def _read(match_ids: Iterable[UUID]) -> dict[UUID, Standings]:
    wanted = "{" + ",".join(map(str, match_ids)) + "}"
    found = {match_id: _decode(text) for match_id, text in pool.run(_FIND, (wanted,)).rows}
    for match_id, standings in found.items():
        _remembered.put(match_id, standings)
    return found


@lru_cache(maxsize=1)
def _at_start() -> AtStart:
    """Whom the site lets answer for ratings, which this package does not know."""
    return cast("AtStart", import_string(settings.XQMJ_AT_START))


def _asked(entry: Entry) -> Standings | None:
    """What ratings say of the match; nothing at all where they say nothing of either seat."""
    created = entry.match.setup.created
    refs = people.by_ids(player for player in entry.match.players if player is not None)
    rated = (refs.get(player or "") for player in entry.match.players)
    found = _at_start()(
        players=tuple(
            ref.public_id if ref is not None and ref.kind == "registered" else None for ref in rated
        ),
        ruleset=created.ruleset,
        control=created.control,
        rated=created.rated,
        at_ms=_started_ms(entry),
    )
    return () if found is not None and not any(found) else found


def _started_ms(entry: Entry) -> int:
    """When the last seat was taken."""
    return max(
        stamped.at_ms
        for stamped in entry.history.events(entry.version)
        if isinstance(stamped.event, MatchCreated | SeatTaken)
    )
