"""The outbox: a mail is a row, written in the transaction of what it tells, sent by the worker.

So a slow or dead mail server holds nobody up and tells nobody anything, and a mail that was
promised is not lost with a process. A worker leases a row before it sends; when it dies in
between, the row is sent again after the lease, with the same Message-ID.
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

from runtime.metrics.registry import Counter

logger = logging.getLogger(__name__)

attempts = Counter(
    "mail_attempts",
    "Tries to send a mail, by outcome: sent, failed (it is tried again), given_up.",
    ("outcome",),
    at_first=("sent", "failed", "given_up"),
)

LEASE = timedelta(minutes=2)
# After the n-th failed attempt the next one waits this long; after the last one it is given up.
RETRY_AFTER = [
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=6),
    timedelta(hours=12),
    timedelta(hours=24),
]
BATCH = 50
# No mail waits longer for its next attempt, and none is leased for longer. What says otherwise was
# written while the clock was ahead: it is due now, instead of when the clock gets there.
LONGEST_WAIT = RETRY_AFTER[-1] + timedelta(hours=1)
LONGEST_LEASE = LEASE + timedelta(hours=1)


class MailQuerySet(models.QuerySet["Mail"]):
    def waiting(self) -> "MailQuerySet":
        return self.filter(sent_at=None, given_up_at=None)

    def due(self) -> "MailQuerySet":
        now = timezone.now()
        return (
            self.waiting()
            .filter(_is_past("next_attempt_at", now, LONGEST_WAIT))
            .filter(Q(leased_until=None) | _is_past("leased_until", now, LONGEST_LEASE))
            .order_by("next_attempt_at", "pk")
        )

    def lease(self, mail: "Mail") -> bool:
        """True for the one worker that may send this mail now."""
        until = timezone.now() + LEASE
        return (
            self.due()
            .order_by()
            .filter(pk=mail.pk)
            .update(leased_until=until, attempts=F("attempts") + 1)
            == 1
        )

    def send_again(self) -> int:
        """For staff: what was given up starts afresh."""
        return self.exclude(given_up_at=None).update(
            given_up_at=None, attempts=0, next_attempt_at=timezone.now()
        )


def _is_past(name: str, now: datetime, longest: timedelta) -> Q:
    return Q((f"{name}__lte", now)) | Q((f"{name}__gt", now + longest))


class Mail(models.Model):
    to = models.EmailField(max_length=254)
    subject = models.CharField(max_length=200)
    # Bodies may hold codes and links that open an account: staff never see them, and they are
    # blanked once sent.
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

    def note_sent(self) -> None:
        self.sent_at = timezone.now()
        self.text = self.html = self.last_error = ""
        self.leased_until = None
        self.save(update_fields=["sent_at", "text", "html", "last_error", "leased_until"])

    def note_failure(self, error: Exception) -> None:
        now = timezone.now()
        self.last_error = f"{type(error).__name__}: {error}"[:300]
        self.leased_until = None
        if _is_final(error) or self.attempts > len(RETRY_AFTER):
            self.given_up_at = now
        else:
            self.next_attempt_at = now + RETRY_AFTER[self.attempts - 1]
        self.save(update_fields=["last_error", "leased_until", "given_up_at", "next_attempt_at"])


def queue_mail(*, to: str, subject: str, text: str, html: str) -> Mail:
    return Mail.objects.create(to=to, subject=_in_a_line(subject)[:200], text=text, html=html)


def _in_a_line(subject: str) -> str:
    return " ".join("".join(one if one.isprintable() else " " for one in subject).split())


def send_due(stopping: Callable[[], bool] = lambda: False) -> int:
    """Sends what is due, one batch; how many mails left."""
    mails = list(Mail.objects.due()[:BATCH])
    if not mails:
        return 0
    connection = get_connection()
    sent = 0
    try:
        for mail in mails:
            if stopping() or not _deliver(mail, connection):
                break
            sent += mail.sent_at is not None
    finally:
        connection.close()
    return sent


def _deliver(mail: Mail, connection: BaseEmailBackend) -> bool:
    """False when the server cannot be talked to: the rest of the batch need not try."""
    if not Mail.objects.lease(mail):
        return True
    mail.refresh_from_db()
    try:
        mail.message(connection).send()
    # Whatever a mail server does, the worker goes on.
    except Exception as error:
        mail.note_failure(error)
        attempts.add("given_up" if mail.given_up_at else "failed")
        logger.warning("Mail %s was not sent (attempt %s): %s", mail.pk, mail.attempts, error)
        connection.close()
        # What is wrong with this mail alone keeps no other from being sent.
        return _is_of_the_mail(error)
    mail.note_sent()
    attempts.add("sent")
    return True


def _is_of_the_mail(error: Exception) -> bool:
    answered = isinstance(error, SMTPResponseException | SMTPRecipientsRefused)
    return answered or isinstance(error, ValueError)


def _is_final(error: Exception) -> bool:
    """A server that answers with a 5xx will answer the same tomorrow, and what is no address, or
    would break out of its header, is none then either."""
    if isinstance(error, ValueError):
        return True
    if isinstance(error, SMTPRecipientsRefused):
        return all(code >= 500 for code, _ in error.recipients.values())
    return isinstance(error, SMTPResponseException) and error.smtp_code >= 500
