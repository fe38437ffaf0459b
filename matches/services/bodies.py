"""The bodies of a match's commands, over REST and over a socket: unknown fields are refused."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, cast

import msgspec

Name = Annotated[str, msgspec.Meta(max_length=64)]


class Body(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Base of all bodies and queries.

    What is left at its default is not written: a write keeps its fingerprint
    when a later version knows of more fields.
    """


class NoBody(Body, frozen=True, kw_only=True):
    """Nothing: an empty object, or no body at all."""


class ReadyBody(Body, frozen=True, kw_only=True):
    """Ready for the next hand; before the first with a nonce of one's own, 8 to 32 bytes in hex."""

    nonce: Name | None = None


@lru_cache(maxsize=64)
def act_body(action: Any) -> type[Body]:
    """The body of an action in a game with this union of actions.

    `expected_seq`: refuse the action unless this is the last line I have seen.
    """
    made = msgspec.defstruct(
        "ActBody",
        [
            ("action", action),
            ("expected_seq", Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] | None, None),
        ],
        bases=(Body,),
        frozen=True,
        kw_only=True,
        namespace={"__doc__": "An action; refused unless `expected_seq` is the last line seen."},
    )
    return cast("type[Body]", made)
