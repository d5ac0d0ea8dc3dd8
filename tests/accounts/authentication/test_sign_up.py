from collections.abc import Callable

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client
from pytest_django import Settings

from accounts.models import Account, AuditEntry, Membership, User
from accounts.retention import delete_unconfirmed_sign_up
from accounts.roles import Role
from runtime.mail.outbox import send_due
from runtime.models import Mail
from tests.conftest import PASSWORD
from tests.engine.hostile_domains import HOSTILE
from tests.servers.dns import FakeDns
from tests.support.engine_dns import fake_dns
from tests.support.received_email import code_in_email

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

__all__ = ["fake_dns"]

SIGN_UP = "/accounts/signup/"
CONFIRM = "/accounts/confirm-email/"


def sign_up(client: Client, email: str, password: str = PASSWORD) -> int:
    response = client.post(SIGN_UP, {"email": email, "password1": password})
    return response.status_code


def test_sign_up_creates_user_account_and_membership_and_ignores_other_fields(
    client: Client,
) -> None:
    fields = {"email": "Jane@Shop.example", "password1": PASSWORD}
    client.post(SIGN_UP, {**fields, "is_staff": "1", "is_superuser": "1", "role": "admin"})
    membership = Membership.objects.get(user__email="jane@shop.example")
    assert membership.role == Role.OWNER
    assert membership.account.name == "jane"
    assert (membership.user.is_staff, membership.user.is_superuser) == (False, False)


def test_wrong_code_is_not_signed_in_and_three_end_the_sign_up(client: Client) -> None:
    sign_up(client, "jane@shop.example")
    correct_code = code_in_email()
    assert client.post(CONFIRM, {"code": "AAAA-AAAA"}).status_code == 200
    assert client.get("/validation/").status_code == 302
    for _ in range(2):
        client.post(CONFIRM, {"code": "AAAA-AAAA"})
    client.post(CONFIRM, {"code": correct_code})
    assert client.get("/validation/").status_code == 302


def test_failed_sign_up_is_rolled_back(client: Client, settings: Settings) -> None:
    settings.ON_ACCOUNT_OPENED = ["tests.accounts.authentication.test_sign_up.fail"]
    with pytest.raises(RuntimeError):
        sign_up(client, "jane@shop.example")
    assert not User.objects.exists()
    assert not Account.objects.exists()


def fail(**_: object) -> None:
    raise RuntimeError("a hook failed")


def test_refused_sign_up_leaves_nothing_behind(client: Client, settings: Settings) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"confirm_email": "1/10s/key"}
    sign_up(client, "jane@shop.example")
    delete_unconfirmed_sign_up(email="jane@shop.example")
    assert sign_up(Client(), "jane@shop.example") == 429
    assert not User.objects.exists()
    assert not EmailAddress.objects.exists()
    assert not Account.objects.exists()


@pytest.mark.parametrize("password", ["short", "jane@shop.example"])
def test_weak_password_is_refused_with_its_reason(client: Client, password: str) -> None:
    response = client.post(SIGN_UP, {"email": "jane@shop.example", "password1": password})
    assert b"errorlist" in response.content
    assert not User.objects.exists()


def test_worker_sends_the_email_with_the_code_and_then_blanks_it(client: Client) -> None:
    sign_up(client, "jane@shop.example")
    code = code_in_email()
    assert not mail.outbox
    send_due()
    assert code in str(mail.outbox[0].body)
    sent_mail = Mail.objects.get()
    assert (sent_mail.text, sent_mail.html) == ("", "")


def test_code_from_the_email_confirms_in_the_same_tab(client: Client) -> None:
    sign_up(client, "jane@shop.example")
    assert "/mail</code>" in client.get(CONFIRM).content.decode()
    response = client.post(CONFIRM, {"code": code_in_email()})
    assert response.headers["Location"] == "/validation/"
    assert client.get("/validation/").status_code == 200
    assert EmailAddress.objects.get(email="jane@shop.example").verified
    actions = set(AuditEntry.objects.values_list("action", flat=True))
    assert {"account.opened", "user.email_confirmed", "user.signed_in"} <= actions


def test_disposable_address_is_refused(client: Client) -> None:
    response = client.post(SIGN_UP, {"email": "jane@mailinator.com", "password1": PASSWORD})
    assert b"disposable address" in response.content
    assert not User.objects.exists()


def test_mistyped_address_gets_a_suggestion_and_is_accepted_when_it_is_sent_again(
    client: Client,
) -> None:
    data = {"email": "jane@gmial.com", "password1": PASSWORD}
    page = client.post(SIGN_UP, data).content.decode()
    assert "Did you mean jane@gmail.com?" in page
    assert 'data-text="jane@gmail.com"' in page
    assert 'name="typed_email" value="jane@gmial.com"' in page
    assert not User.objects.exists()
    client.post(SIGN_UP, {**data, "typed_email": "jane@gmial.com"})
    assert User.objects.get().email == "jane@gmial.com"


def test_correction_is_suggested_before_the_form_is_sent(client: Client) -> None:
    for email, correction in {
        "jane@gmial.com": "jane@gmail.com",
        "jane@gmail,com": "jane@gmail.com",
        **dict.fromkeys(
            ("jane@gmail.com", "jane@shop.example", "", "x" * 5_000 + "@gmial.com"), ""
        ),
    }.items():
        note = client.post("/accounts/signup/correction/", {"email": email}).content.decode()
        assert (f'data-text="{correction}"' in note) == bool(correction), email
        assert bool(note.strip()) == bool(correction), email


def test_second_mistyped_address_gets_a_suggestion_too(client: Client) -> None:
    data = {"email": "jane@yaho.com", "password1": PASSWORD, "typed_email": "jane@gmial.com"}
    assert b"Did you mean jane@yahoo.com?" in client.post(SIGN_UP, data).content


@pytest.mark.parametrize("script", HOSTILE)
def test_a_sign_up_sends_at_most_four_messages(
    client: Client, fake_dns: FakeDns, settings: Settings, script: Callable[[FakeDns, str], None]
) -> None:
    settings.DNS_TIMEOUT = 0.7
    script(fake_dns, "shop.com")
    client.post(SIGN_UP, {"email": "jane@shop.com", "password1": PASSWORD})
    assert User.objects.filter(email="jane@shop.com").exists()
    assert 0 < fake_dns.messages <= 4


def test_mistyped_domain_that_does_not_exist_gets_a_suggestion(
    client: Client, fake_dns: FakeDns
) -> None:
    page = client.post(SIGN_UP, {"email": "jane@webb.de", "password1": PASSWORD})
    assert b"Did you mean jane@web.de?" in page.content
    assert not User.objects.exists()


def test_domain_that_accepts_mail_gets_no_suggestion(client: Client, fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("webb.de")
    client.post(SIGN_UP, {"email": "jane@webb.de", "password1": PASSWORD})
    assert User.objects.filter(email="jane@webb.de").exists()
