from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('validation', '0010_list_deletion'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='addresslist',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False)), fields=['deleted_at'], name='list_deleted'),
        ),
    ]
