"""The computer: a player for each level, and the reminders of its turns."""

from uuid import UUID

from django.contrib.auth.hashers import make_password
from django.db import migrations, models

IDS = {level: UUID(f"78716d6a-0000-8000-8000-00000000000{level}") for level in range(1, 9)}


def make_players(apps, _schema_editor):
    player = apps.get_model("matches", "Player")
    # Nobody logs in as one of them, and no token speaks for an inactive player.
    player.objects.bulk_create(
        player(
            public_id=public_id,
            kind="computer",
            username=f"computer-{level}",
            username_key=f"computer-{level}",
            password=make_password(None),
            is_active=False,
        )
        for level, public_id in IDS.items()
    )


def remove_players(apps, _schema_editor):
    apps.get_model("matches", "Player").objects.filter(public_id__in=IDS.values()).delete()


class Migration(migrations.Migration):
    dependencies = [("matches", "0006_rated_seats_filled")]

    operations = [
        migrations.CreateModel(
            name="ComputerTurn",
            fields=[
                ("match_id", models.UUIDField(primary_key=True, serialize=False)),
                ("version", models.PositiveIntegerField()),
                ("due_ms", models.BigIntegerField(db_index=True, null=True)),
            ],
            options={"db_table": "matches_computer_turn"},
        ),
        migrations.RunPython(make_players, remove_players),
    ]
