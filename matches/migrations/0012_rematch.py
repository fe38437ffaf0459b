"""Rematches: a seat of a match that is over asks the other for another one."""

import uuid

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("matches", "0011_challenge")]

    operations = [
        migrations.CreateModel(
            name="Rematch",
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
                ("rematch_of", models.UUIDField(unique=True)),
                ("opponent", models.UUIDField()),
                ("seat", models.PositiveSmallIntegerField()),
                ("first_dealer", models.PositiveSmallIntegerField()),
            ],
            options={
                "abstract": False,
                "indexes": [
                    models.Index(
                        fields=["taken_ms"],
                        condition=models.Q(taken_by__isnull=False, made=False),
                        name="rematch_unfinished",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(taken_by__isnull=True, taken_ms__isnull=True, made=False)
                        | models.Q(taken_by__isnull=False, taken_ms__isnull=False),
                        name="rematch_taken_when",
                    ),
                ],
            },
        ),
    ]
