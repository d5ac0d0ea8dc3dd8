from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # Requests go on while the index is built.
    atomic = False

    dependencies = [
        ('validation', '0008_sandbox_replays'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='replay',
            index=models.Index(condition=models.Q(('is_sandbox', True)), fields=['account', '-created_at'], name='replay_of_sandbox'),
        ),
    ]
