"""Add the limits of lists. Plans and packs that staff added get those of the Free plan."""

import django.core.validators
from django.db import migrations, models

LIMITS = [
    (10_000, 10 << 20, "free", 1_000),
    (100_000, 100 << 20, "starter", 10_000),
    (1_000_000, 1 << 30, "growth", 100_000),
    (10_000_000, 1 << 30, "scale", 1_000_000),
]


def set_limits(apps, schema_editor):
    for addresses, size, code, credits in LIMITS:
        limits = {"list_addresses": addresses, "list_bytes": size}
        apps.get_model("credits", "Plan").objects.filter(code=code).update(**limits)
        apps.get_model("credits", "Pack").objects.filter(credits=credits).update(**limits)


class Migration(migrations.Migration):

    harmless_because = "It fills new columns, which running code neither reads nor writes."

    dependencies = [
        ('credits', '0004_holds'),
    ]

    operations = [
        migrations.AddField(
            model_name='pack',
            name='list_addresses',
            field=models.PositiveIntegerField(default=10000, db_default=10000, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(10000000)], verbose_name='addresses per list'),
        ),
        migrations.AddField(
            model_name='pack',
            name='list_bytes',
            field=models.PositiveBigIntegerField(default=10485760, db_default=10485760, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1073741824)], verbose_name='bytes of unfinished lists'),
        ),
        migrations.AddField(
            model_name='plan',
            name='list_addresses',
            field=models.PositiveIntegerField(default=10000, db_default=10000, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(10000000)], verbose_name='addresses per list'),
        ),
        migrations.AddField(
            model_name='plan',
            name='list_bytes',
            field=models.PositiveBigIntegerField(default=10485760, db_default=10485760, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1073741824)], verbose_name='bytes of unfinished lists'),
        ),
        migrations.RunPython(set_limits, migrations.RunPython.noop),
    ]
