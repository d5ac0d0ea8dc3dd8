from collections.abc import Iterator
from datetime import timedelta
from email import message_from_bytes
from typing import Any

import pytest
import time_machine
from aiosmtpd.controller import Controller
from django.db import transaction
from django.utils import timezone
from pytest_django import Settings

from runtime.mail import outbox, retention
from runtime.mail.outbox import send_due
from runtime.models import Mail
from tests.servers.redis import free_port

pytestmark = pytest.mark.django_db


class MailServer:
    """Takes every mail, or refuses it with what it is told to say."""

    def __init__(self) -> None:
        self.mails: list[Any] = []
        self.recipients: list[str] = []
        self.says = "250 taken"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        if "refused@shop.example" in envelope.rcpt_tos:
            return "550 no such mailbox"
        self.recipients += envelope.rcpt_tos
        if self.says.startswith("250"):
            self.mails.append(message_from_bytes(envelope.content))
        return self.says


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


def queue(to: str = "jane@shop.example", subject: str = "Hello") -> Mail:
    return outbox.queue_mail(to=to, subject=subject, text="A text.", html="<p>A text.</p>")


def test_a_mail_reaches_the_mail_server_once(mail_server: MailServer) -> None:
    queue()
    assert (send_due(), send_due()) == (1, 0)
    assert [mail["To"] for mail in mail_server.mails] == ["jane@shop.example"]


def test_a_mail_of_a_transaction_that_failed_is_never_sent() -> None:
    with pytest.raises(RuntimeError), transaction.atomic():
        queue()
        raise RuntimeError
    assert send_due() == 0


def test_a_dead_mail_server_holds_nothing_up_and_loses_nothing(
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


def test_one_refused_mail_does_not_stop_the_others(mail_server: MailServer) -> None:
    queue("refused@shop.example")
    queue()
    assert send_due() == 1


def test_a_final_refusal_is_not_tried_again(mail_server: MailServer) -> None:
    mail_server.says = "550 no"
    mail = queue()
    send_due()
    mail.refresh_from_db()
    assert mail.given_up_at


def test_a_batch_ends_when_the_worker_is_told_to_stop(mail_server: MailServer) -> None:
    queue()
    queue()
    send_due(lambda: len(mail_server.mails) == 1)
    assert len(mail_server.mails) == 1


def test_a_dead_server_is_asked_once_a_batch(mail_server: MailServer, settings: Settings) -> None:
    settings.EMAIL_PORT = free_port()
    queue()
    queue()
    send_due()
    assert sorted(Mail.objects.values_list("attempts", flat=True)) == [0, 1]


def test_after_the_last_attempt_a_mail_is_given_up_and_can_be_sent_again(
    mail_server: MailServer,
) -> None:
    mail_server.says = "451 later"
    mail = queue()
    for _ in range(len(outbox.RETRY_AFTER) + 1):
        Mail.objects.update(next_attempt_at=timezone.now())
        send_due()
    mail.refresh_from_db()
    assert mail.given_up_at
    mail_server.says = "250 taken"
    assert send_due() == 0
    Mail.objects.all().send_again()
    assert send_due() == 1


def test_two_workers_do_not_send_the_same_mail() -> None:
    mail = queue()
    assert Mail.objects.lease(mail)
    assert not Mail.objects.lease(mail)
    assert send_due() == 0


def test_a_mail_whose_worker_died_is_sent_after_the_lease(mail_server: MailServer) -> None:
    mail = queue()
    Mail.objects.lease(mail)
    Mail.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    assert send_due() == 1


def test_a_mail_of_a_clock_that_was_months_ahead_leaves_now(mail_server: MailServer) -> None:
    with time_machine.travel(timezone.now() + timedelta(days=120)):
        queue()
    assert send_due() == 1


def test_a_lease_of_a_clock_that_was_months_ahead_keeps_no_mail(mail_server: MailServer) -> None:
    mail = queue()
    with time_machine.travel(timezone.now() + timedelta(days=120)):
        Mail.objects.lease(mail)
    assert send_due() == 1


def test_a_mail_sent_twice_keeps_its_message_id(mail_server: MailServer) -> None:
    mail = queue()
    send_due()
    Mail.objects.update(sent_at=None, next_attempt_at=timezone.now(), text="A text.", html="x")
    send_due()
    first, second = mail_server.mails
    assert first["Message-ID"] == second["Message-ID"]
    assert str(mail.pk) in first["Message-ID"]


@pytest.mark.parametrize("evil", ["a\r\nBcc: b@x.example", "a\nb", "a\rb", "a\x00b", "a\u2028b"])
def test_no_line_break_reaches_a_header(mail_server: MailServer, evil: str) -> None:
    queue(subject=evil)
    send_due()
    (mail,) = mail_server.mails
    assert mail["Bcc"] is None
    assert not set("\r\n\0\u2028") & set(str(mail["Subject"]))


@pytest.mark.parametrize(
    "end", ["\r\nBcc: b@x.example", "\nRCPT TO:<b@x.example>", ", b@x.example"]
)
def test_a_mail_goes_to_nobody_but_whom_it_is_for(mail_server: MailServer, end: str) -> None:
    queue(to=f"jane@shop.example{end}")
    queue()
    send_due()
    assert [mail["To"] for mail in mail_server.mails] == ["jane@shop.example"]
    assert mail_server.recipients == ["jane@shop.example"]


def test_old_mails_go_and_waiting_ones_stay() -> None:
    old = timezone.now() - timedelta(days=31)
    sent, waiting = queue(), queue()
    Mail.objects.update(created_at=old)
    sent.note_sent()
    retention.delete_old_mails()
    assert list(Mail.objects.all()) == [waiting]
