"""The Django application: after every migrate the log's rights are set again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.db import connections
from django.db.models.signals import post_migrate

RIGHTS = Path(__file__).parent / "eventstore" / "sql" / "rights.sql"


class MatchesConfig(AppConfig):
    """Matches, their log and their players."""

    name = "matches"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Listen for the end of a migrate."""
        post_migrate.connect(after_migrate, dispatch_uid="matches.after_migrate")


def after_migrate(*, using: str, **_signal: Any) -> None:
    """Give the app's and the auditor's role what they may do, and go on in the order of commits.

    A role that is missing gets nothing.
    """
    connection = connections[using]
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regprocedure('es.refuse_change()') IS NOT NULL")
        if cursor.fetchone() != (True,):
            return
        cursor.execute(
            "SELECT set_config('xqmj.app_role', %s, false),"
            " set_config('xqmj.auditor_role', %s, false)",
            [settings.XQMJ_APP_ROLE, settings.XQMJ_AUDITOR_ROLE],
        )
        cursor.execute(RIGHTS.read_text())
        cursor.execute("SELECT es.go_on_in_order()")
