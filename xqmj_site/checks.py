"""What the database must be before a match may be kept in it.

An acknowledged event must survive a crash, and nobody may change it afterwards.
Both rest on settings that somebody else can turn off, and a dump that was
restored needs a migrate before it is served. So all this is looked at when the
server starts, in `manage.py check --database default`, and in the health check.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import structlog
from django.conf import settings
from django.core import checks
from django.db import OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader

log = structlog.get_logger(__name__)

OLDEST_SERVER = 150000
LOG_SCHEMA = "es"


class Fault(NamedTuple):
    """One thing that is wrong: a stable code, and a sentence with the way out."""

    code: str
    message: str


SETTINGS_SQL = """
SELECT current_setting('fsync'), current_setting('full_page_writes'),
       current_setting('synchronous_commit'), current_setting('server_version_num')::int,
       (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user)
"""

# `MEMBER` of the owner could become the owner, and so grant itself what it lacks.
WRITABLE_SQL = """
SELECT n.nspname || '.' || c.relname
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p') AND (n.nspname = %s OR n.nspname || '.' || c.relname = ANY (%s))
   AND (pg_has_role(c.relowner, 'MEMBER')
        OR has_table_privilege(c.oid, 'UPDATE') OR has_table_privilege(c.oid, 'DELETE')
        OR has_table_privilege(c.oid, 'TRUNCATE') OR has_any_column_privilege(c.oid, 'UPDATE'))
 ORDER BY 1
"""


def durability_faults(connection: BaseDatabaseWrapper) -> list[Fault]:
    """Return what would let the server lose an event that it has acknowledged."""
    with connection.cursor() as cursor:
        cursor.execute(SETTINGS_SQL)
        fsync, full_page_writes, synchronous_commit, version, _ = cursor.fetchone()
    found = []
    if fsync != "on":
        found.append(Fault("fsync_off", "fsync is off: set it to on in postgresql.conf."))
    if full_page_writes != "on":
        found.append(
            Fault(
                "full_page_writes_off",
                "full_page_writes is off: set it to on in postgresql.conf.",
            )
        )
    if synchronous_commit == "off":
        found.append(
            Fault(
                "synchronous_commit_off",
                "synchronous_commit is off for this role, database or server: set it to on.",
            )
        )
    if version < OLDEST_SERVER:
        found.append(Fault("server_too_old", f"PostgreSQL 15 or later is needed, not {version}."))
    return found


def rights_faults(connection: BaseDatabaseWrapper) -> list[Fault]:
    """Return what would let this role change the log."""
    with connection.cursor() as cursor:
        cursor.execute(SETTINGS_SQL)
        *_, superuser = cursor.fetchone()
        cursor.execute(WRITABLE_SQL, (LOG_SCHEMA, list(settings.XQMJ_APPEND_ONLY_TABLES)))
        writable = [name for (name,) in cursor.fetchall()]
    if superuser:
        return [Fault("role_is_superuser", "DATABASE_URL names a superuser: use the app's role.")]
    return [
        Fault(
            "log_is_writable",
            f"the role of DATABASE_URL may change {name}: use the app's role, "
            "and revoke UPDATE, DELETE and TRUNCATE from it.",
        )
        for name in writable
    ]


# An order that was given before is one of the cluster that the dump came from (docs/adr/0013).
ORDER_SQL = """
SELECT coalesce(
           max(newest.ended_order) >= es.order_of(pg_snapshot_xmax(pg_current_snapshot())), false)
  FROM (SELECT ended_order FROM es.match_head WHERE status = 2 AND rated
         ORDER BY ended_order DESC, match_id DESC LIMIT 1) newest
"""


def migrate_faults(connection: BaseDatabaseWrapper) -> list[Fault]:
    """Return what a migrate would put right: in a restored database, or before a release."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('django_migrations') IS NOT NULL")
        applied: set[tuple[str, str]] = set()
        if cursor.fetchone() == (True,):
            cursor.execute("SELECT app, name FROM django_migrations")
            applied = set(cursor.fetchall())
        pending = sorted(_migrations() - applied)
        if pending:
            first = ".".join(pending[0])
            message = f"{len(pending)} migrations are to come, {first} first: run migrate."
            return [Fault("migrations_pending", message)]
        cursor.execute(ORDER_SQL)
        (is_behind,) = cursor.fetchone()
    if is_behind:
        message = "new matches would come before those of the restored dump: run migrate."
        return [Fault("order_behind", message)]
    return []


@lru_cache(maxsize=1)
def _migrations() -> frozenset[tuple[str, str]]:
    """Every migration that this code has."""
    return frozenset(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)


def faults(connection: BaseDatabaseWrapper) -> list[Fault]:
    """Return everything that makes this database unfit; an empty list when it is fit.

    Raises `OperationalError` when the database is away.
    """
    return [
        *durability_faults(connection),
        *rights_faults(connection),
        *migrate_faults(connection),
    ]


@checks.register(checks.Tags.database)
def check_database(
    *, databases: Sequence[str] | None = None, **_: Any
) -> Sequence[checks.CheckMessage]:
    """Report the faults to `manage.py check --database default`."""
    found: list[checks.CheckMessage] = []
    for alias in databases or ():
        connection = connections[alias]
        wrong = durability_faults(connection)
        # A migration runs as the owner, who may change the log: that is whose role it is for.
        if connection.settings_dict["USER"] != settings.XQMJ_OWNER_ROLE:
            wrong += rights_faults(connection) + migrate_faults(connection)
        found += [checks.Error(fault.message, id=f"xqmj_site.{fault.code}") for fault in wrong]
    return found


def refuse_unfit_database() -> None:
    """End the process when the database is unfit; called before a role begins to serve.

    A database that is away is no reason to end: requests answer 503 until it
    is back, and the health check goes on looking.
    """
    connection = connections["default"]
    try:
        found = faults(connection)
    except OperationalError as error:
        log.warning("database_away_at_start", error=str(error).strip())
        return
    finally:
        connection.close()
    for fault in found:
        log.critical("unfit_database", code=fault.code, message=fault.message)
    if found:
        sys.exit(3)
