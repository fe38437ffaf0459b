"""Names that look alike: the older one of two keeps its place, the other is left without a key."""

from django.db import migrations, models

from matches.lookalikes import skeleton


def fill(apps, _schema_editor):
    player = apps.get_model("matches", "Player")
    taken = set()
    for row in player.objects.order_by("id").only("id", "username").iterator():
        shape = skeleton(row.username)
        if shape not in taken:
            taken.add(shape)
            player.objects.filter(pk=row.pk).update(lookalike=shape)


class Migration(migrations.Migration):
    dependencies = [("matches", "0013_start")]

    operations = [
        migrations.AddField(
            model_name="player",
            name="lookalike",
            field=models.CharField(editable=False, max_length=320, null=True),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
        migrations.AlterField(
            model_name="player",
            name="lookalike",
            field=models.CharField(editable=False, max_length=320, null=True, unique=True),
        ),
    ]
