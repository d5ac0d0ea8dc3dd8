"""Delete old emails and recipient counts, once per day."""

from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from runtime.mail.outbox import Mail
from runtime.mail.recipient_limits import RecipientLimit


def delete_old_mails() -> None:
    """Delete emails that were sent or given up. Waiting emails stay, however old they are."""
    before = timezone.now() - timedelta(days=settings.MAIL_RETENTION_DAYS)
    Mail.objects.filter(created_at__lt=before).exclude(sent_at=None, given_up_at=None).delete()


def delete_old_recipient_limits() -> None:
    """Delete the counts of recipients who received no email for a day."""
    RecipientLimit.objects.delete_old()
