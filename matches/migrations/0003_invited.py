"""Matches whose free seat is kept for somebody are found by whom it is kept for."""

from __future__ import annotations

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "eventstore" / "sql"


DROP = "DROP INDEX CONCURRENTLY IF EXISTS es.match_event_invited"


class Migration(migrations.Migration):
    # Matches are played meanwhile: no lock on the log, and so no transaction either.
    atomic = False
    dependencies = [("matches", "0002_log")]

    operations = [
        # A run that was interrupted left an index that nothing uses.
        migrations.RunSQL([DROP, (SQL / "0003_invited.sql").read_text()], DROP),
    ]
