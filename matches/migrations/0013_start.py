"""What ratings said of the players when a match began."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("matches", "0012_rematch")]

    operations = [
        migrations.CreateModel(
            name="Start",
            fields=[
                ("match_id", models.UUIDField(primary_key=True, serialize=False)),
                ("standings", models.JSONField()),
            ],
            options={"db_table": "matches_start"},
        ),
    ]
