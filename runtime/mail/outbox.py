"""An email is a row of the transaction that causes it, so none is lost.

After a crash, it may be sent twice, with the same Message-ID.
"""

import logging
from collections.abc import Callable
from datetime import timedelta
from smtplib import SMTPRecipientsRefused, SMTPResponseException

from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import models
from django.db.models import Q
from django.utils import timezone

from runtime.database.leased_rows import LeasedQuerySet, LeasedRow, is_past
from runtime.mail.attachments import make_attachment
from runtime.metrics.client import Counter, initialize

logger = logging.getLogger(__name__)

attempts = Counter(
    "emailvalidation_mail_attempts",
    "Attempts to send an email, by outcome: sent, failed (will be retried), given_up.",
    ("outcome",),
)
initialize(attempts, ("sent", "failed", "given_up"))

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
# Times further ahead are due now: a wrong clock wrote them.
MAX_DELAY = RETRY_AFTER[-1] + timedelta(hours=1)


class MailQuerySet(LeasedQuerySet["Mail"]):
    def waiting(self) -> "MailQuerySet":
        return self.filter(sent_at=None, given_up_at=None)

    def due(self) -> "MailQuerySet":
        """Put emails without an attachment first: people wait for their codes."""
        is_due = is_past("next_attempt_at", timezone.now(), MAX_DELAY)
        due = self.waiting().filter(is_due).alias(is_quick=Q(attachment=""))
        return due.order_by("-is_quick", "next_attempt_at", "pk")

    def send_again(self) -> int:
        return self.exclude(given_up_at=None).update(
            given_up_at=None, attempts=0, next_attempt_at=timezone.now()
        )


class Mail(LeasedRow):
    LEASE = timedelta(minutes=2)

    to = models.EmailField(max_length=254)
    subject = models.CharField(max_length=200)
    # May give access to an account: hidden from staff, deleted once sent.
    text = models.TextField(blank=True)
    html = models.TextField(blank=True)
    # An order's id, for its invoice.
    attachment = models.CharField(max_length=100, blank=True, default="", db_default="")
    created_at = models.DateTimeField(default=timezone.now)
    next_attempt_at = models.DateTimeField(default=timezone.now)
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
        # If possible: the email is more important.
        try:
            for make in make_attachment if self.attachment else ():
                message.attach(*make(reference=self.attachment))
        except Exception:
            logger.exception("Email %s is sent without %s", self.pk, self.attachment)
        return message

    def mark_sent(self) -> None:
        """Do this even if another worker has claimed the email."""
        self.sent_at = timezone.now()
        self.text = self.html = self.last_error = ""
        self.leased_until = None
        self.save(update_fields=["sent_at", "text", "html", "last_error", "leased_until"])

    def record_failure(self, error: Exception) -> None:
        now = timezone.now()
        last_error = f"{type(error).__name__}: {error}"[:300]
        if _is_permanent(error) or self.attempts > len(RETRY_AFTER):
            self.release(last_error=last_error, given_up_at=now)
        else:
            next_attempt_at = now + RETRY_AFTER[self.attempts - 1]
            self.release(last_error=last_error, next_attempt_at=next_attempt_at)


def queue_mail(*, to: str, subject: str, text: str, html: str, attachment: str = "") -> Mail:
    printable = "".join(letter if letter.isprintable() else " " for letter in subject)
    subject = " ".join(printable.split())[:200]
    return Mail.objects.create(to=to, subject=subject, text=text, html=html, attachment=attachment)


def delete_old_mails() -> None:
    """Keep waiting emails, however old."""
    before = timezone.now() - timedelta(days=settings.MAIL_RETENTION_DAYS)
    Mail.objects.filter(created_at__lt=before).exclude(sent_at=None, given_up_at=None).delete()


def send_due(
    is_stopping: Callable[[], bool] = lambda: False, emails: MailQuerySet | None = None
) -> int:
    queue = Mail.objects.all() if emails is None else emails
    connection = get_connection()
    sent = 0
    try:
        for _ in range(BATCH_SIZE):
            mail = None if is_stopping() else queue.claim()
            if mail is None or not _deliver(mail, connection):
                break
            sent += mail.sent_at is not None
    finally:
        connection.close()
    return sent


def _deliver(mail: Mail, connection: BaseEmailBackend) -> bool:
    """Return False if the mail server is unreachable."""
    try:
        mail.message(connection).send()
    except Exception as error:
        mail.record_failure(error)
        attempts.labels("given_up" if mail.given_up_at else "failed").inc()
        logger.warning("Email %s was not sent (attempt %s): %s", mail.pk, mail.attempts, error)
        connection.close()
        # Other errors would repeat with the next email.
        return isinstance(error, SMTPResponseException | SMTPRecipientsRefused | ValueError)
    mail.mark_sent()
    attempts.labels("sent").inc()
    logger.info("Email %s sent", mail.pk)
    return True


def _is_permanent(error: Exception) -> bool:
    if isinstance(error, ValueError):
        return True
    if isinstance(error, SMTPRecipientsRefused):
        return all(code >= 500 for code, _ in error.recipients.values())
    return isinstance(error, SMTPResponseException) and error.smtp_code >= 500
