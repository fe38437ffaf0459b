"""Matches whose free seat is kept for somebody are found by whom it is kept for."""

from __future__ import annotations

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "eventstore" / "sql"


class Migration(migrations.Migration):
    dependencies = [("matches", "0002_log")]

    operations = [
        migrations.RunSQL(
            (SQL / "0003_invited.sql").read_text(), "DROP INDEX es.match_event_invited"
        ),
    ]
