"""A player sits in one live rated match at most."""

from __future__ import annotations

from pathlib import Path

from django.db import migrations

SQL = Path(__file__).parent.parent / "eventstore" / "sql"

# What stands in the log without seats is as it was before: the functions of 0002 take none.
BACK = """
DROP FUNCTION es.append_events, es.create_match;
DROP FUNCTION es.take_rated_seats, es.leave_rated_seats, es.was_created;
DROP TABLE es.rated_seat;
"""


def _before(name: str) -> str:
    """A function as 0002 made it."""
    text = (SQL / "0002_functions.sql").read_text()
    begin = text.index(f"CREATE FUNCTION es.{name}(")
    return text[begin : text.index("END $$;", begin)] + "END $$;\n"


class Migration(migrations.Migration):
    dependencies = [("matches", "0004_beat")]

    operations = [
        migrations.RunSQL(
            (SQL / "0005_rated_seat.sql").read_text(),
            [BACK, _before("append_events"), _before("create_match")],
        ),
    ]
