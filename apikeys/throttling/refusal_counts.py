"""Refusals are counted, not written down: a flood of them must not become a flood of rows."""

from collections import Counter
from datetime import timedelta

from django.utils import timezone

from apikeys.models import ApiKey, RefusalHour
from apikeys.models.refusals import Counted
from runtime.database.write_behind import WriteBuffer

KEPT = timedelta(days=90)


def count_refusal(account_id: int, key: ApiKey | None, code: str) -> None:
    """`key`: None for the playground of the dashboard."""
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    refusals.add(Counted(account_id, key.pk if key else None, hour, code))


def delete_old_refusals() -> None:
    """A job of the day."""
    RefusalHour.objects.filter(hour__lt=timezone.now() - KEPT).delete()


refusals: WriteBuffer[Counted] = WriteBuffer(
    lambda counted: RefusalHour.objects.add_all(Counter(counted))
)
