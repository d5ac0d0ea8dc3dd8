from django.db import migrations, models

from runtime.database.concurrent_indexes import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('validation', '0004_list_mailbox_checks'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='mailhostpace',
            index=models.Index(condition=models.Q(('is_idle', False)), fields=['next_at'], name='pace_with_checks'),
        ),
        AddIndexConcurrently(
            model_name='probe',
            index=models.Index(condition=models.Q(('done_at', None)), fields=['group', 'organization', 'egress', 'next_attempt_at'], name='probe_due'),
        ),
        AddIndexConcurrently(
            model_name='probe',
            index=models.Index(condition=models.Q(('chunk_id__isnull', False)), fields=['chunk_id'], name='probe_of_chunk'),
        ),
        AddIndexConcurrently(
            model_name='probe',
            index=models.Index(fields=['account', 'domain', 'done_at'], name='probe_done_by_domain'),
        ),
    ]
