"""The one difference: a server that cannot be reached any more is given up on.

Session settings bound what a server does. They bound nothing where a network
swallows questions or answers, and there each request would hold its thread for
as long as the kernel has patience.
"""

from __future__ import annotations

from typing import Any

from django.db.backends.postgresql import base
from psycopg import IsolationLevel

from matches.eventstore.pool import BOUNDS, BoundedConnection


class DatabaseWrapper(base.DatabaseWrapper):
    """A database of ours as Django knows it."""

    isolation_level: IsolationLevel

    def get_connection_params(self) -> dict[str, Any]:
        """As settings say, with bounds on what they leave open."""
        return {**BOUNDS, **super().get_connection_params()}

    def get_new_connection(self, conn_params: dict[str, Any]) -> BoundedConnection:
        """As Django makes it, but for the class: no setting of ours names a level or a pool."""
        self.isolation_level = IsolationLevel.READ_COMMITTED
        return BoundedConnection.connect(**conn_params)
