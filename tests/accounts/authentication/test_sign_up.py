import re

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client
from pytest_django import Settings

from accounts.models import Account, AuditEntry, Membership, User
from accounts.roles import Role
from runtime.mail.outbox import send_due
from runtime.models import Mail
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db

SIGN_UP = "/accounts/signup/"
CONFIRM = "/accounts/confirm-email/"


def sign_up(client: Client, email: str, password: str = PASSWORD) -> int:
    answer = client.post(SIGN_UP, {"email": email, "password1": password})
    return answer.status_code


def code_in_mail() -> str:
    found = re.search(r"^([A-Z0-9]{4}-[A-Z0-9]{4})$", Mail.objects.latest("pk").text, re.M)
    assert found
    return found[1]


def test_sign_up_makes_user_account_and_owner_together(client: Client) -> None:
    sign_up(client, "Jane@Shop.example")
    membership = Membership.objects.get(user__email="jane@shop.example")
    assert membership.role == Role.OWNER
    assert membership.account.name == "jane"


def test_the_code_from_the_mail_confirms_in_the_same_tab(client: Client) -> None:
    sign_up(client, "jane@shop.example")
    answer = client.post(CONFIRM, {"code": code_in_mail()})
    assert answer.headers["Location"] == "/validation/"
    assert client.get("/validation/").status_code == 200
    assert EmailAddress.objects.get(email="jane@shop.example").verified


def test_without_the_code_nobody_gets_in(client: Client) -> None:
    sign_up(client, "jane@shop.example")
    answer = client.post(CONFIRM, {"code": "AAAA-AAAA"})
    assert answer.status_code == 200
    assert client.get("/validation/").status_code == 302


def test_three_wrong_codes_end_the_sign_up(client: Client) -> None:
    sign_up(client, "jane@shop.example")
    right = code_in_mail()
    for _ in range(3):
        client.post(CONFIRM, {"code": "AAAA-AAAA"})
    client.post(CONFIRM, {"code": right})
    assert client.get("/validation/").status_code == 302


def test_nothing_is_left_when_a_part_of_the_sign_up_fails(
    client: Client, settings: Settings
) -> None:
    settings.ON_ACCOUNT_OPENED = ["tests.accounts.authentication.test_sign_up.fail"]
    with pytest.raises(RuntimeError):
        sign_up(client, "jane@shop.example")
    assert not User.objects.exists()
    assert not Account.objects.exists()


def fail(**_: object) -> None:
    raise RuntimeError("an upper floor could not do its part")


@pytest.mark.parametrize(
    "password", ["short", "1234567890", "password12", "jane@shop.example", "aaaaaaaaa"]
)
def test_a_weak_password_is_refused_with_its_reason(client: Client, password: str) -> None:
    answer = client.post(SIGN_UP, {"email": "jane@shop.example", "password1": password})
    assert b"errorlist" in answer.content
    assert not User.objects.exists()


def test_fields_that_the_form_does_not_show_are_ignored(client: Client) -> None:
    shown = {"email": "jane@shop.example", "password1": PASSWORD}
    client.post(SIGN_UP, {**shown, "is_staff": "1", "is_superuser": "1", "role": "admin"})
    user = User.objects.get()
    assert (user.is_staff, user.is_superuser) == (False, False)


def test_signing_up_is_in_the_audit_log(client: Client) -> None:
    sign_up(client, "jane@shop.example")
    client.post(CONFIRM, {"code": code_in_mail()})
    actions = set(AuditEntry.objects.values_list("action", flat=True))
    assert {"account.opened", "user.email_confirmed", "user.signed_in"} <= actions


def test_the_mail_with_the_code_is_sent_by_the_worker_and_then_blanked(client: Client) -> None:
    sign_up(client, "jane@shop.example")
    code = code_in_mail()
    assert not mail.outbox
    send_due()
    assert code in str(mail.outbox[0].body)
    sent = Mail.objects.get()
    assert (sent.text, sent.html) == ("", "")


def test_a_copy_without_mail_server_names_the_folder_of_its_mails(client: Client) -> None:
    sign_up(client, "jane@shop.example")
    assert "/mail</code>" in client.get(CONFIRM).content.decode()


def test_a_throw_away_address_is_refused(client: Client) -> None:
    answer = client.post(SIGN_UP, {"email": "jane@mailinator.com", "password1": PASSWORD})
    assert b"throw-away address" in answer.content
    assert not User.objects.exists()


def test_a_mistyped_address_is_corrected(client: Client) -> None:
    answer = client.post(SIGN_UP, {"email": "jane@gmial.com", "password1": PASSWORD})
    page = answer.content.decode()
    assert "Did you mean jane@gmail.com?" in page
    assert 'data-text="jane@gmail.com"' in page
    assert not User.objects.exists()


def test_a_corrected_address_that_is_right_is_sent_again(client: Client) -> None:
    page = client.post(SIGN_UP, {"email": "jane@gmial.com", "password1": PASSWORD}).content.decode()
    assert 'name="typed_email" value="jane@gmial.com"' in page
    data = {"email": "jane@gmial.com", "password1": PASSWORD, "typed_email": "jane@gmial.com"}
    client.post(SIGN_UP, data)
    assert User.objects.get().email == "jane@gmial.com"


def test_another_mistyped_address_is_corrected_as_well(client: Client) -> None:
    data = {"email": "jane@yaho.com", "password1": PASSWORD, "typed_email": "jane@gmial.com"}
    assert b"Did you mean jane@yahoo.com?" in client.post(SIGN_UP, data).content


@pytest.mark.parametrize("email", ["jane@shop.example", "jane@some-company.com"])
def test_what_nobody_can_tell_is_let_in(client: Client, email: str) -> None:
    assert sign_up(client, email) == 302
