"""No process counts as alive for players while a lock keeps everybody out of the log."""

from __future__ import annotations

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "eventstore" / "sql"


class Migration(migrations.Migration):
    dependencies = [("matches", "0003_invited")]

    operations = [
        migrations.RunSQL((SQL / "0004_beat.sql").read_text(), migrations.RunSQL.noop),
    ]
