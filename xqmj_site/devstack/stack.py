"""The embedded servers of one clone, and the environment they give to our processes."""

from __future__ import annotations

import os
from pathlib import Path

from xqmj_site.devstack import environment, keyring
from xqmj_site.devstack.identity import server_identity
from xqmj_site.devstack.postgres import PostgresServer
from xqmj_site.devstack.valkey import ValkeyServer

DATABASE = "xqmj"


class Stack:
    """What a clone needs beside its own processes: servers for the URLs that are not set.

    Data and generated keys lie in `folder` and are kept between runs.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Where PostgreSQL has to run as another user it must pass through here, and no more:
        # it can list nothing, and the keys stay readable by their owner alone.
        folder.chmod(0o711 if server_identity() else 0o700)
        self.folder = folder
        self.keys = keyring.load_or_create(folder)
        self.postgres: PostgresServer | None = None
        self.valkey: ValkeyServer | None = None
        if not os.environ.get("DATABASE_URL"):
            self.postgres = PostgresServer(folder / "postgres", keys=self.keys)
        if not os.environ.get("REDIS_URL"):
            self.valkey = ValkeyServer(
                folder / "valkey", password=self.keys.valkey_password, port=self._valkey_port()
            )

    def _valkey_port(self) -> int | None:
        """Return the port of the last run, so that one left behind is found and stopped."""
        url = environment.read(self.folder).get("REDIS_URL", "")
        port = url.rpartition(":")[2].partition("/")[0]
        return int(port) if port.isdigit() else None

    def prepare(self) -> None:
        """Create the database and its roles where they are missing; the server must run."""
        if self.postgres is not None:
            self.postgres.create_roles()
            self.postgres.create_database(DATABASE)

    def environment(self) -> dict[str, str]:
        """Return addresses and keys; what the environment already sets stays as it is."""
        values = {
            "SECRET_KEY": self.keys.secret_key,
            "XQMJ_SEAL_KEYS": self.keys.seal_keys,
        }
        if self.postgres is not None:
            values["DATABASE_URL"] = self.postgres.url("app", DATABASE)
            values["DATABASE_OWNER_URL"] = self.postgres.url("owner", DATABASE)
            values["XQMJ_AUDITOR_URL"] = self.postgres.url("auditor", DATABASE)
        if self.valkey is not None:
            values["REDIS_URL"] = self.valkey.url(0)
            values["BROKER_URL"] = self.valkey.url(1)
        return {name: os.environ.get(name) or value for name, value in values.items()}
