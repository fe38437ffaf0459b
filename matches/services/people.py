"""Who players are: names and kinds, looked up beside the log and remembered for a while.

These look-ups go by the event store's own connections, so that no move and no
poll ever opens one of Django's.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable

import msgspec

from matches.eventstore import pool
from matches.models import username_key
from matches.services import computers, names

REMEMBERED = 10_000
REMEMBERED_S = 60.0
"""A name may be this old in an answer."""
GUEST_REMEMBERED_S = 5.0
"""And so may it that somebody is a guest, who can get an account at any time."""

_FIELDS = "replace(public_id::text, '-', ''), kind, username"
_BY_IDS = f"SELECT {_FIELDS} FROM matches_player WHERE public_id = ANY (%s::uuid[])"  # noqa: S608
_BY_NAME = f"SELECT {_FIELDS} FROM matches_player WHERE username_key = %s AND kind <> 'guest'"  # noqa: S608


class PlayerRef(msgspec.Struct, frozen=True):
    """A player: public id in hex, kind, and the name of whoever has chosen one."""

    public_id: str
    username: str | None
    kind: str

    @property
    def level(self) -> int | None:
        """How well the computer plays, from 1 to 8; None for everybody else."""
        return computers.level_of(self.public_id)


class _Remembered:
    """The players looked up last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[str, tuple[float, PlayerRef]] = OrderedDict()

    def get(self, public_id: str) -> PlayerRef | None:
        with self._lock:
            until_s, player = self._known.get(public_id, (0.0, None))
        return player if until_s > time.monotonic() else None

    def put(self, player: PlayerRef) -> None:
        kept_s = GUEST_REMEMBERED_S if player.kind == "guest" else REMEMBERED_S
        with self._lock:
            self._known[player.public_id] = (time.monotonic() + kept_s, player)
            self._known.move_to_end(player.public_id)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)

    def drop(self, public_id: str) -> None:
        with self._lock:
            self._known.pop(public_id, None)


_remembered = _Remembered()


def by_ids(public_ids: Iterable[str]) -> dict[str, PlayerRef]:
    """The players of these ids (hex); unknown ids are left out. At most one trip."""
    found, missing = {}, set()
    for public_id in public_ids:
        player = _remembered.get(public_id)
        if player is None:
            missing.add(public_id)
        else:
            found[public_id] = player
    if missing:
        wanted = "{" + ",".join(sorted(missing)) + "}"
        for row in pool.run(_BY_IDS, (wanted,)).rows:
            player = _player(*row)
            _remembered.put(player)
            found[player.public_id] = player
    return found


def forget(public_id: str) -> None:
    """Look the player (id in hex) up anew when it is next asked for in this process."""
    _remembered.drop(public_id)


def anew(public_ids: Iterable[str]) -> dict[str, PlayerRef]:
    """The same, looked up whether or not they are remembered."""
    asked = tuple(public_ids)
    for public_id in asked:
        forget(public_id)
    return by_ids(asked)


def by_id(public_id: str) -> PlayerRef | None:
    """The player of this id (hex), None where there is none."""
    return by_ids((public_id,)).get(public_id)


def by_username(username: str) -> PlayerRef | None:
    """The player of this name, whatever its case; nobody finds a guest so."""
    if not names.may_exist(username):
        return None
    rows = pool.run(_BY_NAME, (username_key(username),)).rows
    return _player(*rows[0]) if rows else None


def _player(public_id: str, kind: str, username: str) -> PlayerRef:
    return PlayerRef(public_id, None if kind == "guest" else username, kind)
