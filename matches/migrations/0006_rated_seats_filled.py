"""The seats of the rated matches that live already, once new ones are kept by themselves."""

from __future__ import annotations

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "eventstore" / "sql"


class Migration(migrations.Migration):
    dependencies = [("matches", "0005_rated_seat")]

    operations = [
        migrations.RunSQL(
            (SQL / "0006_rated_seats_filled.sql").read_text(), migrations.RunSQL.noop
        ),
    ]
