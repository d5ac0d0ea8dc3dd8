from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from runtime.mail.outbox import Mail
from runtime.mail.recipient_limits import DAY, RecipientLimit


def delete_old_mails() -> None:
    """Keep waiting emails, however old."""
    before = timezone.now() - timedelta(days=settings.MAIL_RETENTION_DAYS)
    Mail.objects.filter(created_at__lt=before).exclude(sent_at=None, given_up_at=None).delete()


def delete_old_recipient_limits() -> None:
    RecipientLimit.objects.filter(updated_at__lt=timezone.now() - DAY).delete()
