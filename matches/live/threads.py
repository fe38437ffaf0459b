"""Work that waits for the database, in a thread beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

from django.db import close_old_connections

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


async def in_thread(call: Callable[[*Ts], T], *args: *Ts) -> T:
    """Do it, and leave no connection of the ORM to whatever the thread does next.

    No request ends here that would close it, and one that broke would stay broken.
    """

    def done() -> T:
        try:
            return call(*args)
        finally:
            close_old_connections()

    return await asyncio.to_thread(done)
