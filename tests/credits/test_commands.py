"""The management commands create_account, grant_credits, and check_books."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import Account, User
from credits.models import Wallet

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def run(*arguments: str) -> str:
    output = StringIO()
    call_command(*arguments, stdout=output)
    return output.getvalue()


def get_account(email: str) -> Account:
    return Account.objects.get(memberships__user__email=email)


@pytest.mark.parametrize("credits", [0, 1, 500, 1_000_000_000])
def test_account_is_created_with_the_exact_opening_balance(credits: int) -> None:
    output = run("create_account", "jane@gmail.com", "--credits", str(credits))
    assert output.startswith("jane@gmail.com ")
    assert get_account("jane@gmail.com").wallet.balance == credits
    assert run("check_books") == "The books of 1 account agree.\n"


def test_create_account_prints_a_working_address_and_password_on_one_line() -> None:
    line = run("create_account", "Jane@Shop.example")
    email, password = line.strip().split(" ")
    assert email == "jane@shop.example"
    response = Client().post("/accounts/login/", {"login": email, "password": password})
    assert response.headers["Location"] == "/validation/"
    with pytest.raises(CommandError, match="already has an account"):
        run("create_account", "JANE@shop.example")


def test_create_account_sets_staff_status_and_rate_limit() -> None:
    run("create_account", "jane@shop.example", "--staff", "--requests-per-minute", "7")
    assert User.objects.get().is_staff
    assert Account.objects.get().requests_per_minute_override == 7


def test_create_account_with_invalid_input_creates_no_user() -> None:
    for option in (
        *(f"--credits={credits}" for credits in ("-1", "1.5", "many", str(2**63), "1000000001")),
        *("--requests-per-minute=0", f"--requests-per-minute={10**20}"),
    ):
        with pytest.raises(CommandError):
            run("create_account", "jane@shop.example", option)
    with pytest.raises(CommandError):
        run("create_account", "not an address")
    assert not User.objects.exists()


def test_grant_is_posted_to_the_ledger(owner: User, account: Account) -> None:
    output = run("grant_credits", owner.email, "5000", "--reason", "Sorry for the outage")
    assert output == "Granted 5,000 credits. The balance is 5,100.\n"
    entry = account.ledger.get(kind="grant")
    assert (entry.amount, entry.reason, entry.actor) == (5_000, "Sorry for the outage", "system")
    with pytest.raises(CommandError, match="doesn't own an open account"):
        run("grant_credits", "unknown@shop.example", "5", "--reason", "x")


def test_grant_with_an_invalid_amount_or_reason_is_refused(owner: User, account: Account) -> None:
    for amount, reason in (
        *((amount, "x") for amount in ("0", "-5", "1.5", "ten", str(2**63), "1000000001")),
        *(("5", reason) for reason in ("", " ", "x" * 201, "a\u202eb")),
    ):
        with pytest.raises(CommandError):
            run("grant_credits", "--reason", reason, "--", owner.email, amount)
    assert account.ledger.count() == 1


def test_check_books_lists_discrepancies_and_fails(account: Account) -> None:
    Wallet.objects.update(balance=7)
    output = StringIO()
    with pytest.raises(CommandError, match="Found 1 discrepancy"):
        call_command("check_books", stdout=output)
    assert output.getvalue().startswith(f"{account.public_id}: balance 7")
