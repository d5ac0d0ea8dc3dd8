from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('validation', '0014_log_key_without_constraint'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='logentry',
            index=models.Index(condition=models.Q(('reason', 'domain_accepts_mail'), _negated=True), fields=['account', 'reason', 'at'], name='log_by_rare_reason'),
        ),
    ]
