from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('validation', '0015_index_of_rare_reasons'),
    ]

    operations = [
        RemoveIndexConcurrently(
            model_name='logentry',
            name='log_by_reason',
        ),
    ]
