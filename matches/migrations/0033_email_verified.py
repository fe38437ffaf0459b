"""E-mail addresses that somebody has shown to read: each is one player's."""

from django.db import migrations, models
from django.db.models.functions import Lower


class Migration(migrations.Migration):
    dependencies = [("matches", "0032_profile")]

    operations = [
        migrations.AddField(
            model_name="player",
            name="email_verified",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddConstraint(
            model_name="player",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("email_verified", False),
                    models.Q(("email", ""), _negated=True),
                    _connector="OR",
                ),
                name="player_email_verified",
            ),
        ),
        migrations.AddConstraint(
            model_name="player",
            constraint=models.UniqueConstraint(
                Lower("email"),
                condition=models.Q(("email_verified", True)),
                name="player_email_once",
            ),
        ),
    ]
