"""Profiles, and the names of accounts that were closed."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("matches", "0031_token_scope")]

    operations = [
        migrations.CreateModel(
            name="Profile",
            fields=[
                (
                    "player",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("bio", models.CharField(blank=True, max_length=500)),
                ("country", models.CharField(blank=True, max_length=2)),
                ("language", models.CharField(blank=True, max_length=8)),
                ("pieces", models.CharField(blank=True, max_length=8)),
                ("notation", models.CharField(blank=True, max_length=8)),
            ],
        ),
        migrations.CreateModel(
            name="RetiredName",
            fields=[
                (
                    "lookalike",
                    models.CharField(max_length=320, primary_key=True, serialize=False),
                ),
            ],
        ),
    ]
