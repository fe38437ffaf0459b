import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="CatchUp",
            fields=[
                ("only", models.BooleanField(default=True, primary_key=True, serialize=False)),
                ("ended_order", models.BigIntegerField(null=True)),
                ("match_id", models.UUIDField(null=True)),
                (
                    "updated_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("only", True)), name="catch_up_only_one"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Rating",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("pool", models.CharField(max_length=80)),
                ("player", models.UUIDField()),
                ("rating", models.DecimalField(decimal_places=6, max_digits=12)),
                ("rd", models.DecimalField(decimal_places=6, max_digits=12)),
                ("vol", models.DecimalField(decimal_places=9, max_digits=10)),
                ("games", models.PositiveIntegerField()),
                ("wins", models.PositiveIntegerField()),
                ("draws", models.PositiveIntegerField()),
                ("losses", models.PositiveIntegerField()),
                ("last_at_ms", models.BigIntegerField()),
                ("settled_until_ms", models.BigIntegerField()),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["pool", "-rating", "rd", "player"], name="rating_leaderboard"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("player", "pool"), name="rating_player_pool")
                ],
            },
        ),
        migrations.CreateModel(
            name="RatingEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("pool", models.CharField(max_length=80)),
                ("seq", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(choices=[("match", "Match")], default="match", max_length=16),
                ),
                ("algorithm", models.PositiveSmallIntegerField()),
                ("match_id", models.UUIDField()),
                ("player", models.UUIDField()),
                ("seat", models.PositiveSmallIntegerField()),
                ("seats", models.PositiveSmallIntegerField()),
                ("place", models.PositiveSmallIntegerField()),
                ("at_ms", models.BigIntegerField()),
                ("idle_ms", models.BigIntegerField()),
                ("before_rating", models.DecimalField(decimal_places=6, max_digits=12)),
                ("before_rd", models.DecimalField(decimal_places=6, max_digits=12)),
                ("before_vol", models.DecimalField(decimal_places=9, max_digits=10)),
                ("after_rating", models.DecimalField(decimal_places=6, max_digits=12)),
                ("after_rd", models.DecimalField(decimal_places=6, max_digits=12)),
                ("after_vol", models.DecimalField(decimal_places=9, max_digits=10)),
                (
                    "recorded_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["player", "pool", "-seq"], name="rating_event_history")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("pool", "seq"), name="rating_event_pool_seq"),
                    models.UniqueConstraint(
                        condition=models.Q(("kind", "match")),
                        fields=("match_id", "seat"),
                        name="rating_event_match_seat",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("kind", "match")),
                        fields=("match_id", "player"),
                        name="rating_event_match_player",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("idle_ms__gte", 0),
                            ("place__gte", 1),
                            ("seats__gte", 2),
                            ("seq__gte", 1),
                            ("seat__lt", models.F("seats")),
                        ),
                        name="rating_event_sound",
                    ),
                ],
            },
        ),
    ]
