import logging
from collections.abc import Iterator
from datetime import timedelta
from email import message_from_bytes
from typing import Any

import pytest
import time_machine
from aiosmtpd.controller import Controller
from django.utils import timezone
from pytest_django import Settings

from runtime.mail import outbox
from runtime.mail.outbox import send_due
from runtime.models import Mail
from tests.servers.redis import free_port

pytestmark = pytest.mark.django_db


class MailServer:
    """Reply to every email with the status that the test sets."""

    def __init__(self) -> None:
        self.mails: list[Any] = []
        self.recipients: list[str] = []
        self.reply = "250 accepted"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        if "refused@shop.example" in envelope.rcpt_tos:
            return "550 no such mailbox"
        self.recipients += envelope.rcpt_tos
        if self.reply.startswith("250"):
            self.mails.append(message_from_bytes(envelope.content))
        return self.reply


@pytest.fixture
def mail_server(settings: Settings) -> Iterator[MailServer]:
    handler = MailServer()
    port = free_port()
    controller = Controller(handler, hostname="127.0.0.1", port=port)
    controller.start()
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
    yield handler
    controller.stop()


def queue(to: str = "jane@shop.example", subject: str = "Hello", attachment: str = "") -> Mail:
    return outbox.queue_mail(
        to=to, subject=subject, text="A text.", html="<p>A text.</p>", attachment=attachment
    )


def test_email_is_sent_once(mail_server: MailServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    mail = queue()
    assert (send_due(), send_due()) == (1, 0)
    assert caplog.messages == [f"Email {mail.pk} sent"]
    assert [mail["To"] for mail in mail_server.mails] == ["jane@shop.example"]


def test_email_is_retried_after_the_mail_server_was_unreachable(
    mail_server: MailServer, settings: Settings
) -> None:
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, free_port()
    mail = queue()
    assert send_due() == 0
    mail.refresh_from_db()
    assert mail.last_error.startswith("ConnectionRefusedError")
    assert mail.next_attempt_at > timezone.now()
    settings.EMAIL_PORT = port
    Mail.objects.update(next_attempt_at=timezone.now())
    assert send_due() == 1


def test_permanently_refused_email_is_not_retried_and_does_not_stop_the_others(
    mail_server: MailServer,
) -> None:
    mail = queue("refused@shop.example")
    queue()
    assert send_due() == 1
    mail.refresh_from_db()
    assert mail.given_up_at


def test_batch_ends_when_the_worker_is_stopping(mail_server: MailServer) -> None:
    queue()
    queue()
    send_due(lambda: len(mail_server.mails) == 1)
    assert len(mail_server.mails) == 1


def test_unreachable_mail_server_is_tried_once_per_batch(
    mail_server: MailServer, settings: Settings
) -> None:
    settings.EMAIL_PORT = free_port()
    queue()
    queue()
    send_due()
    assert sorted(Mail.objects.values_list("attempts", flat=True)) == [0, 1]


def test_email_given_up_after_the_last_attempt_can_be_sent_again(mail_server: MailServer) -> None:
    mail_server.reply = "451 later"
    mail = queue()
    for _ in range(len(outbox.RETRY_AFTER) + 1):
        Mail.objects.update(next_attempt_at=timezone.now())
        send_due()
    mail.refresh_from_db()
    assert mail.given_up_at
    mail_server.reply = "250 accepted"
    assert send_due() == 0
    Mail.objects.all().send_again()
    assert send_due() == 1


def test_codes_do_not_wait_for_invoices(mail_server: MailServer) -> None:
    for number in range(2):
        queue(subject=f"Invoice {number}", attachment=f"ord_{number}")
    queue(subject="Your code")
    assert send_due() == 3
    subjects = [mail["Subject"] for mail in mail_server.mails]
    assert subjects == ["Your code", "Invoice 0", "Invoice 1"]


def test_late_success_is_recorded_despite_the_failure_of_another_worker() -> None:
    slow, other = claim_twice()
    slow.mark_sent()
    other.record_failure(TimeoutError())
    with time_machine.travel(timezone.now() + timedelta(days=2)):
        assert Mail.objects.claim() is None


def claim_twice() -> tuple[Mail, Mail]:
    """Return an email as claimed by a worker whose lease ended, and by another one after that."""
    queue()
    slow = Mail.objects.claim()
    with time_machine.travel(timezone.now() + Mail.LEASE):
        other = Mail.objects.claim()
    assert slow and other
    return slow, other


def test_email_queued_while_the_clock_was_ahead_is_sent_now(mail_server: MailServer) -> None:
    with time_machine.travel(timezone.now() + timedelta(days=120)):
        queue()
    assert send_due() == 1


def test_email_sent_twice_keeps_its_message_id(mail_server: MailServer) -> None:
    mail = queue()
    send_due()
    Mail.objects.update(sent_at=None, next_attempt_at=timezone.now(), text="A text.", html="x")
    send_due()
    first, second = mail_server.mails
    assert first["Message-ID"] == second["Message-ID"]
    assert str(mail.pk) in first["Message-ID"]


def test_line_breaks_are_removed_from_headers(mail_server: MailServer) -> None:
    for subject in ("a\r\nBcc: b@x.example", "a\nb", "a\rb", "a\x00b", "a\u2028b"):
        queue(subject=subject)
        send_due()
        mail = mail_server.mails.pop()
        assert mail["Bcc"] is None
        assert not set("\r\n\0\u2028") & set(str(mail["Subject"]))


def test_email_with_an_invalid_recipient_reaches_no_one(mail_server: MailServer) -> None:
    for suffix in ("\r\nBcc: b@x.example", "\nRCPT TO:<b@x.example>", ", b@x.example"):
        queue(to=f"jane@shop.example{suffix}")
    queue()
    send_due()
    assert [mail["To"] for mail in mail_server.mails] == ["jane@shop.example"]
    assert mail_server.recipients == ["jane@shop.example"]


def test_old_emails_are_deleted_unless_they_are_waiting() -> None:
    created_at = timezone.now() - timedelta(days=31)
    sent, waiting = queue(), queue()
    Mail.objects.update(created_at=created_at)
    sent.mark_sent()
    outbox.delete_old_mails()
    assert list(Mail.objects.all()) == [waiting]
