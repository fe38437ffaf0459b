"""What tokens are called and may do; those that there are came from log-ins, and play."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("knox", "0009_extend_authtoken_field"),
        ("matches", "0030_lookalike"),
    ]

    operations = [
        migrations.CreateModel(
            name="TokenScope",
            fields=[
                (
                    "token",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="named",
                        serialize=False,
                        to="knox.authtoken",
                    ),
                ),
                ("name", models.CharField(max_length=40)),
                ("scope", models.CharField(max_length=8)),
            ],
            options={
                "db_table": "matches_token_scope",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("scope__in", ("play", "bot", "read"))),
                        name="token_scope",
                    )
                ],
            },
        ),
    ]
