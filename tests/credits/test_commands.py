"""create_account --credits, grant_credits, check_books: for operators."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Account, User
from credits.models import Wallet
from tests.credits.days import day_of_work, on, state_of

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    output = StringIO()
    call_command(*arguments, stdout=output)
    return output.getvalue()


def account_of(email: str) -> Account:
    return Account.objects.get(memberships__user__email=email)


@pytest.mark.parametrize("credits", [0, 1, 500, 1_000_000_000])
def test_an_account_is_created_with_exactly_so_many_credits(credits: int) -> None:
    printed = run("create_account", "jane@gmail.com", "--credits", str(credits))
    assert printed.startswith("jane@gmail.com ")
    assert account_of("jane@gmail.com").wallet.balance == credits
    assert "agree" in run("check_books")


def test_without_a_number_it_gets_the_sign_up_credits() -> None:
    run("create_account", "jane@shop.example")
    assert account_of("jane@shop.example").wallet.balance == 100


def test_an_account_created_with_no_credits_is_topped_up_like_any_other() -> None:
    with on("2026-11-21"):
        run("create_account", "jane@shop.example", "--credits", "0")
    day_of_work("2026-12-21")
    assert state_of(account_of("jane@shop.example")) == ("free", 100)


@pytest.mark.parametrize("credits", ["-1", "1.5", "many", str(2**63), "1000000001"])
def test_an_odd_number_creates_nobody(credits: str) -> None:
    with pytest.raises(CommandError):
        run("create_account", "jane@shop.example", f"--credits={credits}")
    assert not User.objects.exists()


def test_a_grant_is_booked(owner: User, account: Account) -> None:
    printed = run("grant_credits", owner.email, "5000", "--reason", "Sorry for the outage")
    assert printed == "Granted 5,000 credits. The balance is 5,100.\n"
    entry = account.ledger.get(kind="grant")
    assert (entry.amount, entry.reason, entry.actor) == (5_000, "Sorry for the outage", "system")


@pytest.mark.parametrize("amount", ["0", "-5", "1.5", "ten", str(2**63), "1000000001"])
def test_an_odd_amount_is_refused_by_name(owner: User, account: Account, amount: str) -> None:
    with pytest.raises(CommandError):
        run("grant_credits", "--reason=x", "--", owner.email, amount)
    assert account.ledger.count() == 1


@pytest.mark.parametrize("reason", ["", " ", "x" * 201, "a\u202eb"])
def test_a_grant_without_a_readable_reason_is_refused(owner: User, reason: str) -> None:
    with pytest.raises(CommandError):
        run("grant_credits", owner.email, "5", "--reason", reason)


def test_a_grant_for_nobody_is_refused(db: None) -> None:
    with pytest.raises(CommandError, match="owns no open account"):
        run("grant_credits", "nobody@shop.example", "5", "--reason", "x")


def test_books_that_agree_are_said_to(owner: User) -> None:
    assert run("check_books") == "The books of 1 account agree.\n"


def test_books_that_differ_are_listed_and_the_command_fails(account: Account) -> None:
    Wallet.objects.update(balance=7)
    output = StringIO()
    with pytest.raises(CommandError, match="The books differ: 1 line"):
        call_command("check_books", stdout=output)
    assert output.getvalue().startswith(f"{account.public_id}: balance 7")
