"""Count refusals per hour, as a row for each would let a flood of requests fill the database."""

from collections import Counter
from datetime import timedelta

from django.utils import timezone

from apikeys.models import ApiKey, RefusalHour
from apikeys.models.refusal_hours import RefusalGroup
from runtime.database.write_behind import WriteBuffer

RETENTION = timedelta(days=90)


def count_refusal(account_id: int, key: ApiKey | None, code: str) -> None:
    """Count a refusal in memory. `key` is None for the dashboard's playground."""
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    refusals.add(RefusalGroup(account_id, key.pk if key else None, hour, code))


def delete_old_refusals() -> None:
    """Delete counts older than 90 days. The background worker calls this daily."""
    RefusalHour.objects.filter(hour__lt=timezone.now() - RETENTION).delete()


refusals: WriteBuffer[RefusalGroup] = WriteBuffer(
    lambda groups: RefusalHour.objects.add_all(Counter(groups))
)
