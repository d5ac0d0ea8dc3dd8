from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('validation', '0002_batches'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='replay',
            index=models.Index(condition=models.Q(('batch_hashes', ''), _negated=True), fields=['account'], name='replay_of_batch'),
        ),
    ]
