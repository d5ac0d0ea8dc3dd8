"""The management commands create_account, grant_credits, and check_books."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Account, User
from credits.models import Wallet
from tests.credits.time_travel import on, plan_and_balance, run_daily_jobs

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
    assert "agree" in run("check_books")


def test_account_without_an_opening_balance_gets_the_sign_up_credits() -> None:
    run("create_account", "jane@shop.example")
    assert get_account("jane@shop.example").wallet.balance == 100


def test_account_created_with_no_credits_is_topped_up_like_any_other() -> None:
    with on("2026-11-21"):
        run("create_account", "jane@shop.example", "--credits", "0")
    run_daily_jobs("2026-12-21")
    assert plan_and_balance(get_account("jane@shop.example")) == ("free", 100)


@pytest.mark.parametrize("credits", ["-1", "1.5", "many", str(2**63), "1000000001"])
def test_invalid_opening_balance_creates_no_user(credits: str) -> None:
    with pytest.raises(CommandError):
        run("create_account", "jane@shop.example", f"--credits={credits}")
    assert not User.objects.exists()


def test_grant_is_posted_to_the_ledger(owner: User, account: Account) -> None:
    output = run("grant_credits", owner.email, "5000", "--reason", "Sorry for the outage")
    assert output == "Granted 5,000 credits. The balance is 5,100.\n"
    entry = account.ledger.get(kind="grant")
    assert (entry.amount, entry.reason, entry.actor) == (5_000, "Sorry for the outage", "system")


@pytest.mark.parametrize("amount", ["0", "-5", "1.5", "ten", str(2**63), "1000000001"])
def test_command_refuses_invalid_amount(owner: User, account: Account, amount: str) -> None:
    with pytest.raises(CommandError):
        run("grant_credits", "--reason=x", "--", owner.email, amount)
    assert account.ledger.count() == 1


@pytest.mark.parametrize("reason", ["", " ", "x" * 201, "a\u202eb"])
def test_grant_without_a_valid_reason_is_refused(owner: User, reason: str) -> None:
    with pytest.raises(CommandError):
        run("grant_credits", owner.email, "5", "--reason", reason)


def test_grant_for_unknown_user_is_refused(db: None) -> None:
    with pytest.raises(CommandError, match="doesn't own an open account"):
        run("grant_credits", "unknown@shop.example", "5", "--reason", "x")


def test_check_books_reports_that_the_books_agree(owner: User) -> None:
    assert run("check_books") == "The books of 1 account agree.\n"


def test_check_books_lists_discrepancies_and_fails(account: Account) -> None:
    Wallet.objects.update(balance=7)
    output = StringIO()
    with pytest.raises(CommandError, match="Found 1 discrepancy"):
        call_command("check_books", stdout=output)
    assert output.getvalue().startswith(f"{account.public_id}: balance 7")
