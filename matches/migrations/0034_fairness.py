"""Facts for moderators: who shares an address, and who plays each other again and again."""

import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("matches", "0033_email_verified")]

    operations = [
        migrations.CreateModel(
            name="SeenAddress",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("player", models.UUIDField()),
                ("address", models.CharField(db_index=True, max_length=32)),
                (
                    "last_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), db_index=True
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("player", "address"), name="seen_address_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="Flag",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("shared_address", "Shared Address"),
                            ("many_matches", "Many Matches"),
                        ],
                        max_length=16,
                    ),
                ),
                ("one", models.UUIDField()),
                ("other", models.UUIDField()),
                ("day", models.DateField()),
                ("count", models.PositiveIntegerField()),
            ],
            options={
                "indexes": [models.Index(fields=["-day", "kind"], name="flag_newest")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("kind", "one", "other", "day"), name="flag_once"
                    )
                ],
            },
        ),
    ]
