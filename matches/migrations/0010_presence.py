"""When each player was last heard of."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("matches", "0009_pairing")]

    operations = [
        migrations.CreateModel(
            name="Presence",
            fields=[
                ("player", models.UUIDField(primary_key=True, serialize=False)),
                ("seen_ms", models.BigIntegerField()),
            ],
            options={"db_table": "matches_presence"},
        ),
        # Rows change all the time, and nothing that is indexed of them.
        migrations.RunSQL(
            "ALTER TABLE matches_presence SET (fillfactor = 50)", migrations.RunSQL.noop
        ),
    ]
