"""The log: schema `es`, its tables, triggers and functions."""

from __future__ import annotations

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "eventstore" / "sql"

# A log with anything in it is not to be thrown away by a migrate backwards.
DROP_EMPTY_LOG = """
DO $$
BEGIN
    IF EXISTS (SELECT FROM es.match_event) THEN
        RAISE EXCEPTION 'the log is not empty';
    END IF;
    DROP SCHEMA es CASCADE;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("matches", "0001_initial")]

    operations = [
        migrations.RunSQL((SQL / "0001_log.sql").read_text(), DROP_EMPTY_LOG),
        migrations.RunSQL((SQL / "0002_functions.sql").read_text(), migrations.RunSQL.noop),
    ]
