"""Send emails through an outbox table.

An email is a row, created in the transaction of the event it is about, and sent by the background
worker. So requests don't wait for a mail server, response times reveal nothing about it, and no
email is lost when a process dies. A worker leases a row before it sends the email. If the worker
dies, another one sends the email again after the lease, with the same Message-ID.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from smtplib import SMTPRecipientsRefused, SMTPResponseException

from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from runtime.metrics.client import Counter, initialize

logger = logging.getLogger(__name__)

attempts = Counter(
    "emailvalidation_mail_attempts",
    "Attempts to send an email, by outcome: sent, failed (will be retried), given_up.",
    ("outcome",),
)
initialize(attempts, ("sent", "failed", "given_up"))

LEASE = timedelta(minutes=2)
# The delay after the nth failed attempt. After the last retry fails, the email is given up.
RETRY_AFTER = [
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=6),
    timedelta(hours=12),
    timedelta(hours=24),
]
BATCH_SIZE = 50
# Times further in the future than these were written while the clock was ahead: such an email is
# due now.
MAX_DELAY = RETRY_AFTER[-1] + timedelta(hours=1)
MAX_LEASE = LEASE + timedelta(hours=1)


class MailQuerySet(models.QuerySet["Mail"]):
    def waiting(self) -> "MailQuerySet":
        return self.filter(sent_at=None, given_up_at=None)

    def due(self) -> "MailQuerySet":
        now = timezone.now()
        return (
            self.waiting()
            .filter(_is_past("next_attempt_at", now, MAX_DELAY))
            .filter(Q(leased_until=None) | _is_past("leased_until", now, MAX_LEASE))
            .order_by("next_attempt_at", "pk")
        )

    def lease(self, mail: "Mail") -> bool:
        """Return True for exactly one worker, which may then send this email."""
        until = timezone.now() + LEASE
        return (
            self.due()
            .order_by()
            .filter(pk=mail.pk)
            .update(leased_until=until, attempts=F("attempts") + 1)
            == 1
        )

    def send_again(self) -> int:
        """Requeue emails that were given up, and return their number."""
        return self.exclude(given_up_at=None).update(
            given_up_at=None, attempts=0, next_attempt_at=timezone.now()
        )


def _is_past(field: str, now: datetime, max_ahead: timedelta) -> Q:
    return Q((f"{field}__lte", now)) | Q((f"{field}__gt", now + max_ahead))


class Mail(models.Model):
    to = models.EmailField(max_length=254)
    subject = models.CharField(max_length=200)
    # Bodies may contain codes and links that give access to an account: staff can't see them, and
    # they are deleted once the email is sent.
    text = models.TextField(blank=True)
    html = models.TextField(blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    next_attempt_at = models.DateTimeField(default=timezone.now)
    leased_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    last_error = models.CharField(max_length=300, blank=True)
    sent_at = models.DateTimeField(null=True)
    given_up_at = models.DateTimeField(null=True)

    objects = MailQuerySet.as_manager()

    class Meta:
        verbose_name = "email"
        indexes = [
            models.Index(
                fields=["next_attempt_at"],
                condition=Q(sent_at=None, given_up_at=None),
                name="mail_waiting",
            ),
            models.Index(fields=["to", "-created_at"], name="mail_by_recipient"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} to {self.to}"

    def message(self, connection: BaseEmailBackend) -> EmailMultiAlternatives:
        host = settings.BASE_HOST
        message = EmailMultiAlternatives(
            self.subject,
            self.text,
            to=[self.to],
            connection=connection,
            headers={
                "Message-ID": f"<mail-{self.pk}-{self.created_at:%Y%m%d%H%M%S}@{host}>",
                "Auto-Submitted": "auto-generated",
            },
        )
        message.attach_alternative(self.html, "text/html")
        return message

    def mark_sent(self) -> None:
        self.sent_at = timezone.now()
        self.text = self.html = self.last_error = ""
        self.leased_until = None
        self.save(update_fields=["sent_at", "text", "html", "last_error", "leased_until"])

    def record_failure(self, error: Exception) -> None:
        now = timezone.now()
        self.last_error = f"{type(error).__name__}: {error}"[:300]
        self.leased_until = None
        if _is_permanent(error) or self.attempts > len(RETRY_AFTER):
            self.given_up_at = now
        else:
            self.next_attempt_at = now + RETRY_AFTER[self.attempts - 1]
        self.save(update_fields=["last_error", "leased_until", "given_up_at", "next_attempt_at"])


def queue_mail(*, to: str, subject: str, text: str, html: str) -> Mail:
    return Mail.objects.create(to=to, subject=_single_line(subject)[:200], text=text, html=html)


def _single_line(subject: str) -> str:
    printable = "".join(letter if letter.isprintable() else " " for letter in subject)
    return " ".join(printable.split())


def send_due(is_stopping: Callable[[], bool] = lambda: False) -> int:
    """Send one batch of due emails, and return the number sent."""
    batch = list(Mail.objects.due()[:BATCH_SIZE])
    if not batch:
        return 0
    connection = get_connection()
    sent = 0
    try:
        for mail in batch:
            if is_stopping() or not _deliver(mail, connection):
                break
            sent += mail.sent_at is not None
    finally:
        connection.close()
    return sent


def _deliver(mail: Mail, connection: BaseEmailBackend) -> bool:
    """Send one email. Return False if the mail server is unreachable, so the batch ends."""
    if not Mail.objects.lease(mail):
        return True
    mail.refresh_from_db()
    try:
        mail.message(connection).send()
    # Whatever happens to one email, the worker continues.
    except Exception as error:
        mail.record_failure(error)
        attempts.labels("given_up" if mail.given_up_at else "failed").inc()
        logger.warning("Email %s was not sent (attempt %s): %s", mail.pk, mail.attempts, error)
        connection.close()
        return _is_about_this_email(error)
    mail.mark_sent()
    attempts.labels("sent").inc()
    return True


def _is_about_this_email(error: Exception) -> bool:
    """Return whether other emails may be sent in spite of this error."""
    is_smtp_reply = isinstance(error, SMTPResponseException | SMTPRecipientsRefused)
    return is_smtp_reply or isinstance(error, ValueError)


def _is_permanent(error: Exception) -> bool:
    """Return whether a retry would fail too.

    That is the case if the mail server replied with a permanent error (5xx), or the email has an
    invalid address or header (ValueError).
    """
    if isinstance(error, ValueError):
        return True
    if isinstance(error, SMTPRecipientsRefused):
        return all(code >= 500 for code, _ in error.recipients.values())
    return isinstance(error, SMTPResponseException) and error.smtp_code >= 500
