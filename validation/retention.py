from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from accounts.models import Account
from validation.models import LogEntry, Replay


def delete_old_replays() -> None:
    Replay.objects.outdated().delete()


def delete_old_log_entries() -> None:
    before = timezone.now() - timedelta(days=settings.LOG_RETENTION_DAYS)
    LogEntry.objects.filter(at__lt=before).delete()


def forget_requests(*, account: Account) -> None:
    """Seam: an account is erased. What was used stays in the books, without any address."""
    LogEntry.objects.filter(account=account).delete()
    Replay.objects.filter(account=account).delete()
