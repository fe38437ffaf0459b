"""Seeks: who looks for an opponent."""

import uuid

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("matches", "0007_computer")]

    operations = [
        migrations.CreateModel(
            name="Seek",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                ("match_id", models.UUIDField(unique=True)),
                ("player", models.UUIDField()),
                ("ruleset", models.CharField(max_length=64)),
                ("rules_version", models.PositiveIntegerField()),
                ("options", models.JSONField()),
                ("control", models.CharField(max_length=64)),
                ("rated", models.BooleanField()),
                ("rating", models.IntegerField(null=True)),
                ("rating_min", models.IntegerField(null=True)),
                ("rating_max", models.IntegerField(null=True)),
                ("created_ms", models.BigIntegerField()),
                ("expires_ms", models.BigIntegerField(db_index=True)),
                ("taken_by", models.UUIDField(null=True)),
                ("taken_ms", models.BigIntegerField(null=True)),
                ("made", models.BooleanField(default=False)),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["taken_ms"],
                        condition=models.Q(taken_by__isnull=False, made=False),
                        name="seek_unfinished",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("player",),
                        condition=models.Q(taken_by__isnull=True),
                        name="seek_open_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(taken_by__isnull=True, taken_ms__isnull=True, made=False)
                        | models.Q(taken_by__isnull=False, taken_ms__isnull=False),
                        name="seek_taken_when",
                    ),
                ],
            },
        ),
    ]
