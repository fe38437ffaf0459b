"""Challenges: who asks whom for a match."""

import uuid

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("matches", "0010_presence")]

    operations = [
        migrations.CreateModel(
            name="Challenge",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                ("match_id", models.UUIDField(unique=True)),
                ("player", models.UUIDField()),
                ("ruleset", models.CharField(max_length=64)),
                ("rules_version", models.PositiveIntegerField()),
                ("options", models.JSONField()),
                ("control", models.CharField(max_length=64)),
                ("rated", models.BooleanField()),
                ("created_ms", models.BigIntegerField()),
                ("expires_ms", models.BigIntegerField(db_index=True)),
                ("taken_by", models.UUIDField(null=True)),
                ("taken_ms", models.BigIntegerField(null=True)),
                ("made", models.BooleanField(default=False)),
                ("opponent", models.UUIDField()),
                ("declined", models.CharField(max_length=16, null=True)),
            ],
            options={
                "abstract": False,
                "indexes": [
                    models.Index(
                        fields=["taken_ms"],
                        condition=models.Q(taken_by__isnull=False, made=False),
                        name="challenge_unfinished",
                    ),
                    models.Index(fields=["opponent", "-created_ms"], name="challenge_received"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(taken_by__isnull=True, taken_ms__isnull=True, made=False)
                        | models.Q(taken_by__isnull=False, taken_ms__isnull=False),
                        name="challenge_taken_when",
                    ),
                    models.UniqueConstraint(
                        fields=("player", "opponent"),
                        condition=models.Q(taken_by__isnull=True, declined__isnull=True),
                        name="challenge_open_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(taken_by__isnull=True) | models.Q(declined__isnull=True),
                        name="challenge_answered_once",
                    ),
                ],
            },
        ),
    ]
