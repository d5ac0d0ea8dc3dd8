"""Strangers can trigger three emails per hour and ten per day to one mailbox."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from accounts import emails, team
from accounts.models import Account, Invitation, User
from accounts.roles import Role
from runtime.mail import recipient_limits
from runtime.models import Mail, RecipientLimit
from tests.conftest import PASSWORD, make_user
from tests.support.fresh_database import run_concurrently
from tests.support.log_records import LogCapture
from tests.support.metrics import Increases

VICTIM = "victim@shop.example"


def sign_up(email: str = VICTIM) -> tuple[Client, Any]:
    client = Client()
    response = client.post("/accounts/signup/", {"email": email, "password1": PASSWORD})
    return client, response


def invite(account: Account, owner: User, email: str = VICTIM) -> Invitation:
    return team.invite_member(account=account, email=email, role=Role.VIEWER, actor=owner)


def get_account(user: User) -> Account:
    return user.memberships.get().account


def links() -> list[str]:
    matches = (
        re.search(r"/accounts/invitations/\S+", mail.text) for mail in Mail.objects.order_by("pk")
    )
    return [match[0] for match in matches if match]


@pytest.mark.django_db
def test_a_mailbox_gets_three_sign_up_codes_per_hour() -> None:
    pages = []
    for _ in range(5):
        client, response = sign_up()
        page = client.get(response.headers["Location"])
        csrf = r'name="csrfmiddlewaretoken" value="\w+"'
        pages.append(
            (response.status_code, page.status_code, re.sub(csrf, "", page.content.decode()))
        )
    assert Mail.objects.filter(to=VICTIM).count() == 3
    # The pages don't reveal that the fourth and fifth emails were dropped.
    assert pages[0][0] == 302
    assert len(set(pages)) == 1


def test_all_kinds_of_email_share_the_limit(account: Account, owner: User, stranger: User) -> None:
    victim = make_user(VICTIM)
    sign_up()
    invite(account, owner)
    Client().post("/accounts/password/reset/", {"email": VICTIM})
    invite(get_account(stranger), stranger)
    Client().post("/accounts/password/reset/", {"email": VICTIM})
    client = Client()
    client.post("/accounts/login/", {"login": owner.email, "password": PASSWORD})
    client.post("/accounts/email/", {"action_add": "", "email": VICTIM})
    assert Mail.objects.filter(to=victim.email).count() == 3


@pytest.mark.parametrize(
    "spellings",
    [
        [
            "jane.doe@gmail.com",
            "janedoe@gmail.com",
            "j.anedoe+a@googlemail.com",
            "JANEDOE+b@gmail.com",
        ],
        ["jane@shop.example", "jane+a@shop.example", "jane+b@shop.example", "Jane+c@SHOP.example"],
        [
            "jane@shop.example",
            '"jane"@shop.example',
            '"j\\ane"@shop.example',
            '"jane+a"@shop.example',
        ],
    ],
)
def test_spellings_of_an_address_count_as_one_mailbox(
    account: Account, owner: User, spellings: list[str]
) -> None:
    for email in spellings:
        invite(account, owner, email)
    assert Mail.objects.count() == 3


def test_a_mailbox_gets_ten_emails_per_day(account: Account, owner: User) -> None:
    start = timezone.now()
    for hour in range(24):
        with time_machine.travel(start + timedelta(hours=hour, minutes=hour), tick=False):
            invite(account, owner)
            assert Mail.objects.count() == min(hour + 1, 10)
    with time_machine.travel(start + timedelta(days=1, minutes=1), tick=False):
        invite(account, owner)
    assert Mail.objects.count() == 11


def test_mailboxes_have_separate_limits(account: Account, owner: User) -> None:
    for _ in range(4):
        invite(account, owner)
    invite(account, owner, "another@shop.example")
    assert Mail.objects.filter(to="another@shop.example").count() == 1


def test_emails_that_strangers_cannot_trigger_are_not_limited_or_counted(
    account: Account, owner: User, stranger: User
) -> None:
    for _ in range(12):
        emails.queue_member_removed(account=account, to=owner.email)
    for _ in range(3):
        invite(get_account(stranger), stranger, owner.email)
    emails.queue_account_closed(account=account, to=owner.email)
    assert Mail.objects.count() == 16


LIMITED = {
    *("account_already_exists", "email_confirmation", "email_confirmation_signup"),
    *("invitation", "opt_out", "password_reset_key"),
}
NOT_LIMITED = {
    # About an action of the recipient while signed in, or through a link from an email.
    *("email_changed", "email_confirm", "email_deleted"),
    *("account_connected", "account_disconnected"),
    *("password_changed", "password_reset", "password_set", "second_factor_removed"),
    *("totp_activated", "totp_deactivated", "webauthn_added", "webauthn_removed"),
    "recovery_codes_generated",
    # To members of an account, about events in it.
    *("account_closed", "member_removed", "second_factor_required"),
    *("key_changed", "key_created", "key_expires", "key_revoked", "key_rotated"),
    *("key_limit_near", "key_limit_reached", "order_payment_failed", "top_up_failed"),
    *("top_up_off", "top_up_paused", "top_up_receipt"),
    *("invoice", "low_balance", "payment_failed", "plan_ended", "receipt", "refund", "renewal"),
    *("feedback_answered", "list_failed", "list_results", "unusual_usage", "zero_balance"),
    "webhook_disabled",
}


def test_each_kind_of_email_is_classified_as_limited_or_not() -> None:
    files = Path(settings.BASE_DIR, "templates").rglob("*_subject.txt")
    kinds = {file.name.removesuffix("_subject.txt") for file in files}
    assert kinds == LIMITED | NOT_LIMITED
    limited = {template.rpartition("/")[2] for template in emails.RATE_LIMITED_TEMPLATES}
    # allauth has two more kinds, which are disabled but limited too.
    assert limited == LIMITED | {"login_code", "unknown_account"}


def test_a_dropped_email_is_counted_and_logged_without_its_address(
    account: Account, owner: User, records: LogCapture
) -> None:
    increases = Increases()
    for _ in range(5):
        invite(account, owner)
    assert increases.of("emails_dropped_total") == {("invitation",): 2}
    assert "v…@shop.example" in records.text
    assert VICTIM not in records.text


def test_an_invitation_whose_new_link_was_dropped_keeps_the_earlier_one(
    account: Account, owner: User
) -> None:
    for _ in range(4):
        invite(account, owner)
    statuses = [Client().get(link).status_code for link in links()]
    assert statuses == [404, 404, 200]


def test_recipient_counts_contain_no_address_and_last_a_day(account: Account, owner: User) -> None:
    invite(account, owner)
    limit = RecipientLimit.objects.get()
    assert re.fullmatch(r"[0-9a-f]{64}", limit.recipient)
    assert "victim" not in str(vars(limit))
    recipient_limits.delete_old_recipient_limits()
    assert RecipientLimit.objects.count() == 1
    with time_machine.travel(timezone.now() + timedelta(days=1, minutes=1)):
        recipient_limits.delete_old_recipient_limits()
    assert not RecipientLimit.objects.exists()


def test_counts_of_a_clock_that_was_ahead_are_ignored(account: Account, owner: User) -> None:
    with time_machine.travel(timezone.now() + timedelta(days=60)):
        for _ in range(4):
            invite(account, owner)
    cache.clear()
    invite(account, owner)
    assert Mail.objects.count() == 4


@pytest.mark.usefixtures("fresh_database")
def test_limit_is_exact_for_concurrent_emails() -> None:
    def send(number: int) -> bool:
        return emails.queue_sign_in_email(
            template="account/email/account_already_exists", to=VICTIM, context={"email": VICTIM}
        )

    assert sorted(map(str, run_concurrently(12, send))) == ["False"] * 9 + ["True"] * 3
    assert Mail.objects.count() == 3
