"""Quick pairing: who waits to be paired."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("matches", "0008_seek"),
    ]

    operations = [
        migrations.CreateModel(
            name="Pairing",
            fields=[
                ("player", models.UUIDField(primary_key=True, serialize=False)),
                ("ruleset", models.CharField(max_length=64)),
                ("control", models.CharField(max_length=64)),
                ("rated", models.BooleanField()),
                ("rating", models.IntegerField(null=True)),
                ("since_ms", models.BigIntegerField()),
                ("expires_ms", models.BigIntegerField(db_index=True)),
                ("opponent", models.UUIDField(null=True)),
                ("match_id", models.UUIDField(null=True)),
                ("paired_ms", models.BigIntegerField(null=True)),
                ("made", models.BooleanField(default=False)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("match_id__isnull", True)),
                        fields=["ruleset", "control", "rated", "since_ms"],
                        name="pairing_waiting",
                    ),
                    models.Index(
                        condition=models.Q(("made", False), ("match_id__isnull", False)),
                        fields=["paired_ms"],
                        name="pairing_unfinished",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("made", False),
                                ("match_id__isnull", True),
                                ("opponent__isnull", True),
                                ("paired_ms__isnull", True),
                            ),
                            models.Q(
                                ("match_id__isnull", False),
                                ("opponent__isnull", False),
                                ("paired_ms__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="pairing_whole",
                    )
                ],
            },
        ),
    ]
