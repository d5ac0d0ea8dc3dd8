"""Sign-up credits are granted once per account and mailbox, in any spelling of its address.

They are limited per domain within 30 days, except for free email providers.
"""

from datetime import timedelta

import pytest
import time_machine
from allauth.account.models import EmailAddress
from allauth.account.signals import email_confirmed
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, User
from accounts.services import (
    close_account,
    open_account,
    open_another_account,
    run_email_confirmed_hooks,
)
from credits.models import LedgerEntry, SignUpPlace, Wallet
from credits.plans.sign_up_credits import PERIOD, delete_old_places
from tests.accounts.staff.staff_pages import visible_text
from tests.conftest import make_user, signed_in
from tests.credits.customers import balance, pay, place_order, sign_up
from tests.credits.time_travel import renew_plans, run_daily_jobs

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def balances(*emails: str) -> list[int]:
    return [balance(sign_up(email)) for email in emails]


def test_credits_are_granted_when_the_address_is_confirmed() -> None:
    user = User.objects.create_user("jane@shop.example", "a password of hers")
    account = open_account(user=user)
    assert balance(account) == 0
    address = EmailAddress.objects.create(user=user, email=user.email, verified=True)
    for _ in range(2):
        email_confirmed.send(EmailAddress, request=None, email_address=address)
    assert balance(account) == 100
    entry = account.ledger.get()
    assert (entry.kind, entry.actor) == ("signup", "system")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("jane.doe@gmail.com", "janedoe@gmail.com"),
        ("janedoe@gmail.com", "janedoe+again@gmail.com"),
        ("janedoe@gmail.com", "jane.doe@googlemail.com"),
        ("jane@outlook.com", "jane+2@outlook.com"),
        ("jane@yahoo.com", "jane-2@yahoo.com"),
        ("jane@bücher.example", "jane@xn--bcher-kva.example"),
    ],
)
def test_another_spelling_of_a_mailbox_gets_no_credits(first: str, second: str) -> None:
    assert balances(first, second) == [100, 0]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("jane+1@shop.example", "jane+2@shop.example"),
        ("jane.doe@shop.example", "janedoe@shop.example"),
        ("jane@gmail.com", "jane@outlook.com"),
        ("jane-1@gmail.com", "jane-2@gmail.com"),
    ],
)
def test_another_mailbox_gets_credits(first: str, second: str) -> None:
    assert balances(first, second) == [100, 100]


def test_another_address_or_account_of_the_user_gets_no_more_credits(
    owner: User, account: Account
) -> None:
    source = account.ledger.get().source
    assert source.startswith("signup:")
    assert "owner" not in source
    owner.email = "another@shop.example"
    owner.save()
    run_email_confirmed_hooks(user=owner)
    assert balance(account) == 100
    assert balance(open_another_account(user=owner, name="Second")) == 0


def test_invited_user_gets_credits_with_their_first_own_account() -> None:
    user = make_user("invited@shop.example")
    run_email_confirmed_hooks(user=user)
    assert not LedgerEntry.objects.exists()
    account = open_another_account(user=user, name="My own")
    assert balance(account) == 100


OVERVIEW = "/validation/"


@pytest.fixture(autouse=True)
def limit(settings: Settings) -> None:
    settings.SIGN_UP_CREDITS_PER_DOMAIN = 3


def owner_browser(account: Account) -> Client:
    return signed_in(User.objects.get(memberships__account=account))


@pytest.mark.parametrize(
    "emails",
    [
        ["jane+1@firm.example", "jane+2@firm.example", "joe@firm.example", "jim@firm.example"],
        ["a@one.firm.com", "b@two.firm.com", "c@firm.com", "d@three.four.firm.com"],
        ["a@bücher.de", "b@xn--bcher-kva.de", "c@sub.bücher.de", "d@bücher.de"],
        ["a@firm.co.uk", "b@firm.co.uk", "c@www.firm.co.uk", "d@firm.co.uk"],
        # Relays offer many addresses per user; subdomains of a provider deliver to one mailbox.
        ["a@duck.com", "b@duck.com", "c@duck.com", "d@duck.com"],
        ["a@jane.fastmail.com", "b@jane.fastmail.com", "c@jo.fastmail.com", "d@jo.fastmail.com"],
    ],
)
def test_fourth_account_at_a_domain_starts_without_credits(emails: list[str]) -> None:
    assert balances(*emails) == [100, 100, 100, 0]


def test_free_providers_have_no_limit() -> None:
    for provider in ("gmail.com", "outlook.at", "yahoo.co.uk"):
        emails = [f"customer{number}@{provider}" for number in range(5)]
        assert balances(*emails) == [100] * 5
    assert not SignUpPlace.objects.exists()


@pytest.mark.both
def test_domains_do_not_share_a_limit_which_is_a_setting(settings: Settings) -> None:
    assert balances(*(f"{name}@one.co.uk" for name in "abc")) == [100] * 3
    assert balances("d@two.co.uk", "d@one.co.uk") == [100, 0]
    settings.SIGN_UP_CREDITS_PER_DOMAIN = 1
    assert balances("a@firm.example", "b@firm.example") == [100, 0]
    settings.SIGN_UP_CREDITS_PER_DOMAIN = 0
    assert balances("a@other.example") == [0]


@pytest.mark.both
def test_each_place_is_free_again_after_30_days() -> None:
    start = timezone.now()
    for days, email, credits in [
        (0, "a@firm.example", 100),
        (10, "b@firm.example", 100),
        (20, "c@firm.example", 100),
        (29, "d@firm.example", 0),
        (31, "e@firm.example", 100),
        (32, "f@firm.example", 0),
        (41, "g@firm.example", 100),
    ]:
        with time_machine.travel(start + timedelta(days=days), tick=False):
            assert balances(email) == [credits], days


@pytest.mark.both
def test_mailbox_that_already_had_credits_takes_no_place() -> None:
    accounts = [sign_up("jane@firm.example")]
    user = User.objects.get(email="jane@firm.example")
    user.email = "janet@firm.example"
    user.save()
    EmailAddress.objects.filter(user=user).update(email=user.email)
    accounts += [sign_up("jane@firm.example")]
    assert [balance(account) for account in accounts] == [100, 0]
    assert SignUpPlace.objects.count() == 1
    assert "already gets them in another account" in billing_page(accounts[1])


def test_mailbox_refused_by_the_domain_limit_can_get_credits_later() -> None:
    sign_up_three()
    late = sign_up("late@firm.example")
    assert not late.ledger.exists()
    with time_machine.travel(timezone.now() + PERIOD, tick=False):
        run_email_confirmed_hooks(user=User.objects.get(memberships__account=late))
    assert balance(late) == 100
    assert "have already received" not in billing_page(late)


def test_pages_explain_why_there_are_no_free_credits() -> None:
    sign_up_three()
    late = sign_up("late@mail.firm.example")
    reason = "others at firm.example have already received the free credits"
    for page in (OVERVIEW, "/credits/"):
        html = owner_browser(late).get(page).content.decode()
        assert reason in visible_text(html), page
        assert 'href="/credits/packs/"' in html
        assert 'href="mailto:support@' in html
    first = Account.objects.get(memberships__user__email="a@firm.example")
    assert reason not in visible_text(owner_browser(first).get(OVERVIEW).content.decode())
    pay(place_order(late, "starter"))
    assert reason not in visible_text(owner_browser(late).get(OVERVIEW).content.decode())


def test_account_without_sign_up_credits_is_not_topped_up() -> None:
    sign_up_three()
    late = sign_up("late@firm.example")
    renew_plans((timezone.now() + timedelta(days=40)).date().isoformat())
    assert balance(late) == 0


def test_operator_creates_any_number_of_accounts_at_a_domain() -> None:
    for number in range(5):
        call_command("create_account", f"user{number}@firm.example")
    assert set(Wallet.objects.values_list("balance", flat=True)) == {100}
    assert not SignUpPlace.objects.exists()
    assert balances("a@firm.example") == [100]


def test_place_stores_a_keyed_digest_of_the_domain_and_no_account(settings: Settings) -> None:
    sign_up("jane@firm.example")
    place = SignUpPlace.objects.get()
    assert len(place.domain_digest) == 64
    assert {field.name for field in SignUpPlace._meta.fields} == {
        *("id", "domain_digest", "slot", "taken_at")
    }
    settings.ADDRESS_HASH_KEY = "k" * 50
    sign_up("joe@firm.example")
    assert SignUpPlace.objects.values("domain_digest").distinct().count() == 2


@pytest.mark.both
def test_place_is_deleted_after_30_days_and_before_its_account_is_erased() -> None:
    account, start = sign_up("jane@firm.example"), timezone.now()
    close_account(account=account, actor=User.objects.get(email="jane@firm.example"))
    with time_machine.travel(start + PERIOD - timedelta(minutes=1), tick=False):
        delete_old_places()
        assert SignUpPlace.objects.exists()
    run_daily_jobs((start + PERIOD + timedelta(days=1)).date().isoformat())
    account.refresh_from_db()
    assert account.erased_at
    assert not SignUpPlace.objects.exists()


def sign_up_three() -> None:
    assert balances(*(f"{name}@firm.example" for name in "abc")) == [100] * 3


def billing_page(account: Account) -> str:
    return visible_text(owner_browser(account).get("/credits/").content.decode())
