"""Players, and the answers to their repeated requests."""

import uuid

import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="WriteKey",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("scope", models.CharField(max_length=80)),
                ("key", models.CharField(max_length=64)),
                ("fingerprint", models.BigIntegerField()),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("answer", models.BinaryField(null=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), db_index=True
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("scope", "key"), name="write_key_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("answer__isnull", True), ("status__isnull", True)),
                            models.Q(("answer__isnull", False), ("status__isnull", False)),
                            _connector="OR",
                        ),
                        name="write_key_answered",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Player",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                (
                    "last_login",
                    models.DateTimeField(blank=True, null=True, verbose_name="last login"),
                ),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("registered", "Registered"),
                            ("guest", "Guest"),
                            ("computer", "Computer"),
                            ("bot", "Bot"),
                        ],
                        default="registered",
                        max_length=10,
                    ),
                ),
                ("username", models.CharField(max_length=40, unique=True)),
                ("username_key", models.CharField(editable=False, max_length=120, unique=True)),
                ("email", models.EmailField(blank=True, max_length=254)),
                ("is_staff", models.BooleanField(default=False)),
                ("is_active", models.BooleanField(default=True)),
                (
                    "created_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), editable=False
                    ),
                ),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kind__in", ("registered", "guest", "computer", "bot"))
                        ),
                        name="player_kind",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kind", "registered"),
                            models.Q(("is_staff", False), ("is_superuser", False)),
                            _connector="OR",
                        ),
                        name="player_staff_is_registered",
                    ),
                ],
            },
        ),
    ]
