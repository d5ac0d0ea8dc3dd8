"""Sign-up credits are granted once per account and mailbox, in any spelling of its address."""

import pytest
from allauth.account.models import EmailAddress
from allauth.account.signals import email_confirmed

from accounts.models import Account, User
from accounts.services import open_account, open_another_account, run_email_confirmed_hooks
from credits.models import LedgerEntry
from tests.conftest import make_user
from tests.credits.customers import balance, sign_up

pytestmark = pytest.mark.django_db


def test_credits_are_granted_when_the_address_is_confirmed(db: None) -> None:
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
def test_another_mailbox_gets_credits(first: str, second: str) -> None:
    assert [balance(sign_up(email)) for email in (first, second)] == [100, 100]


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
