"""Between events and the rows that keep them: kinds are data, versions are lifted at read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec

from matches.domain.events import MATCH_EVENTS, Event, Stamped
from matches.eventstore import hashing
from matches.eventstore.rows import CommandKey, Row
from matches.eventstore.upcasters import UPCASTERS, Upcaster
from matches.games.protocol import CorruptHistory
from matches.games.registry import rules_for, rulesets


class UnknownEvent(CorruptHistory):
    """The log holds a kind or a version that this code does not know: a newer one wrote it.

    Nothing may be decided or written on such a match by this code.
    """


class _Known:
    """A kind as it stands today: its version, its decoder, and its one value without fields."""

    __slots__ = ("decode", "empty", "type", "v")

    def __init__(self, event_type: type[Event]) -> None:
        self.type = event_type
        self.v = event_type.V
        self.decode: Callable[[bytes], Event] = msgspec.json.Decoder(event_type).decode
        self.empty: Event | None = None
        if all(not field.required for field in msgspec.structs.fields(event_type)):
            self.empty = event_type()


class Codec:
    """Writes and reads the given kinds of events.

    `upcasters` must lift every older version of each kind; ValueError if one is
    missing or a kind is there twice.
    """

    def __init__(
        self,
        event_types: Iterable[type[Event]],
        upcasters: Mapping[tuple[str, int], Upcaster],
    ) -> None:
        self._known: dict[str, _Known] = {}
        self._upcasters = upcasters
        self._encoder = msgspec.json.Encoder(order="sorted")
        for event_type in event_types:
            kind = event_type.KIND
            if kind in self._known:
                raise ValueError(f"two types are called {kind}")
            for v in range(1, event_type.V):
                if (kind, v) not in upcasters:
                    raise ValueError(f"nothing lifts {kind} from version {v}")
            self._known[kind] = _Known(event_type)

    @property
    def kinds(self) -> dict[str, int]:
        """Every kind with its newest version."""
        return {kind: known.v for kind, known in self._known.items()}

    def encode(self, stamped: Stamped) -> tuple[str, int, bytes]:
        """Kind, version and canonical payload of an event."""
        event = stamped.event
        return event.KIND, event.V, self._encoder.encode(event)

    def decode(self, row: Row) -> Stamped:
        """The event of a row.

        Raises `UnknownEvent` for a kind or version from newer code, and
        `CorruptHistory` for a payload that is not one of its kind.
        """
        return self.decode_rows((row,))[0]

    def decode_rows(self, rows: Sequence[Row]) -> list[Stamped]:
        """The events of rows in order; raises as `decode` does."""
        # Every rebuild runs through here: one dictionary look-up and two calls a row.
        known_of = self._known
        stampeds: list[Stamped] = []
        append = stampeds.append
        for row in rows:
            known = known_of.get(row.kind)
            if known is None or row.v != known.v:
                event = self._lifted(row)
            elif row.payload == b"{}" and known.empty is not None:
                event = known.empty
            else:
                try:
                    event = known.decode(row.payload)
                except msgspec.MsgspecError as error:
                    raise _corrupt(row, error) from error
            append(Stamped(event, row.at_ms, row.actor))
        return stampeds

    def lift(self, kind: str, v: int, payload: bytes) -> Any:
        """The payload as plain data of the kind's newest version."""
        known = self._known.get(kind)
        if known is None or v > known.v:
            raise UnknownEvent(f"{kind}@{v} is not known to this code")
        data = msgspec.json.decode(payload)
        for step in range(v, known.v):
            data = self._upcasters[kind, step](data)
        return data

    def _lifted(self, row: Row) -> Event:
        try:
            data = self.lift(row.kind, row.v, row.payload)
            return msgspec.convert(data, self._known[row.kind].type)
        except msgspec.MsgspecError as error:
            raise _corrupt(row, error) from error


def _corrupt(row: Row, error: Exception) -> CorruptHistory:
    return CorruptHistory(f"event {row.seq} is no {row.kind}@{row.v}: {error}")


def _event_types() -> Iterator[type[Event]]:
    yield from MATCH_EVENTS
    seen: set[type[Event]] = set()
    for ruleset in rulesets():
        for event_type in rules_for(ruleset.key, version=ruleset.version).events:
            if event_type not in seen:
                seen.add(event_type)
                yield event_type


CODEC = Codec(_event_types(), UPCASTERS)
"""The codec of every kind there is."""

encode = CODEC.encode
decode = CODEC.decode
decode_rows = CODEC.decode_rows


def new_rows(
    stampeds: Sequence[Stamped],
    *,
    match_id: UUID,
    after: int,
    prev_hash: bytes,
    key: CommandKey | None = None,
    caused_from: int = 0,
) -> tuple[Row, ...]:
    """The rows, hashes included, that append the events after version `after`.

    The events from index `caused_from` on are the effects of the command named
    by `key`; those before it the table owed.
    """
    rows: list[Row] = []
    for index, stamped in enumerate(stampeds):
        kind, v, payload = encode(stamped)
        named = key if index == caused_from else None
        rows.append(
            Row(
                seq=after + 1 + index,
                kind=kind,
                v=v,
                payload=payload,
                actor=stamped.actor,
                command_id=named.command_id if named else None,
                fingerprint=named.fingerprint if named else None,
                effects=len(stampeds) - caused_from if named else None,
                at_ms=stamped.at_ms,
                hash=b"",
            )
        )
    return hashing.chain(prev_hash, match_id, rows)
