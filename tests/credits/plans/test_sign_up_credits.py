"""100 credits once: an account, and a mailbox however its address is written."""

import pytest
from allauth.account.models import EmailAddress
from allauth.account.signals import email_confirmed

from accounts.models import Account, User
from accounts.services import note_confirmed, open_account, open_another_account
from credits.models import LedgerEntry, Wallet
from tests.conftest import make_user
from tests.credits.days import day_of_work, on, state_of

pytestmark = pytest.mark.django_db


def sign_up(email: str) -> Account:
    user = make_user(email)
    account = open_account(user=user)
    note_confirmed(user=user)
    return account


def balance(account: Account) -> int:
    return Wallet.objects.get(account=account).balance


def test_they_come_when_the_address_is_confirmed_and_not_before(db: None) -> None:
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
def test_another_spelling_of_a_mailbox_gets_none(first: str, second: str) -> None:
    assert [balance(sign_up(email)) for email in (first, second)] == [100, 0]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("jane+1@shop.example", "jane+2@shop.example"),
        ("jane.doe@shop.example", "janedoe@shop.example"),
        ("jane@gmail.com", "jane@outlook.com"),
        ("jane-1@gmail.com", "jane-2@gmail.com"),
    ],
)
def test_another_mailbox_gets_its_own(first: str, second: str) -> None:
    assert [balance(sign_up(email)) for email in (first, second)] == [100, 100]


def test_a_mailbox_without_sign_up_credits_is_not_topped_up_either() -> None:
    with on("2026-11-21"):
        sign_up("janedoe@gmail.com")
        second = sign_up("jane.doe@gmail.com")
    day_of_work("2026-12-21")
    assert state_of(second) == ("free", 0)


def test_another_address_confirmed_later_brings_no_more(owner: User, account: Account) -> None:
    owner.email = "another@shop.example"
    owner.save()
    note_confirmed(user=owner)
    assert balance(account) == 100


def test_a_second_account_of_one_user_brings_no_more(owner: User) -> None:
    assert balance(open_another_account(user=owner, name="Second")) == 0


def test_who_came_by_invitation_gets_them_with_their_own_first_account() -> None:
    user = make_user("invited@shop.example")
    note_confirmed(user=user)
    assert not LedgerEntry.objects.exists()
    account = open_another_account(user=user, name="My own")
    assert balance(account) == 100


def test_what_is_remembered_of_a_mailbox_does_not_name_it(owner: User) -> None:
    source = LedgerEntry.objects.get().source
    assert source.startswith("signup:")
    assert "owner" not in source
