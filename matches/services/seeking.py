"""What is said of seeks, over REST and over the lobby's stream alike."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from matches.models import Seek
from matches.services import queries, seeks
from matches.services.people import PlayerRef
from matches.services.shown import Person, person


class SeekShown(msgspec.Struct, frozen=True):
    """Somebody who looks for an opponent.

    `rating` was the player's when the seek was opened, None where the control
    is never rated; `rating_min` and `rating_max` are whom it is for. `match_id`
    is the match that accepting it has made.
    """

    id: str
    player: Person
    ruleset: str
    rules_version: int
    options: dict[str, str | int | bool]
    control: str
    rated: bool
    rating: int | None
    rating_min: int | None
    rating_max: int | None
    created_at_ms: int
    expires_at_ms: int
    match_id: str | None


def seeks_shown(found: Sequence[Seek], known: dict[str, PlayerRef]) -> tuple[SeekShown, ...]:
    """Those of the seeks whose players are known."""
    return tuple(
        seek_shown(seek, known[seek.player.hex]) for seek in found if seek.player.hex in known
    )


def seek_shown(seek: Seek, player: PlayerRef) -> SeekShown:
    """A seek of the player."""
    return SeekShown(
        id=seek.pk.hex,
        player=person(player),
        ruleset=seek.ruleset,
        rules_version=seek.rules_version,
        options=seek.options,
        control=seek.control,
        rated=seek.rated,
        rating=seek.rating,
        rating_min=seek.rating_min,
        rating_max=seek.rating_max,
        created_at_ms=seek.created_ms,
        expires_at_ms=seek.expires_ms,
        match_id=seek.match_id.hex if seek.made else None,
    )


def board() -> dict[tuple[str, str], SeekShown]:
    """The seeks that can be accepted now, as things by kind and id; the newest hundred."""
    found = seeks.open_seeks()
    known = queries.players(seek.player.hex for seek in found)
    return {("seek", one.id): one for one in seeks_shown(found, known)}
