"""Held credits: charged step by step, released, and canceled when a deduction needs them."""

from datetime import timedelta

import pytest
import time_machine
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from accounts import retention
from accounts.models import Account, User
from accounts.services import close_account
from apikeys.models import ApiKey
from credits.models import Hold, Order, UseHour, Wallet
from credits.orders import refunds
from credits.orders.daily_jobs import renew_subscriptions
from credits.services import deduct, grant
from credits.wallet.books import find_discrepancies
from credits.wallet.charges import (
    Charge,
    InsufficientCredits,
    charge_account,
    insufficient_credits,
)
from credits.wallet.holds import HoldEnded, charge_hold, hold_credits, release_hold, shrink_hold
from credits.wallet.statement import monthly_statement
from runtime.mail.outbox import Mail
from tests.conftest import signed_in
from tests.credits.customers import pay
from tests.support.api_client import ApiClient
from tests.support.staff_forms import post_confirmed

pytestmark = pytest.mark.django_db


def hold(account: Account, amount: int, name: str = "1") -> Hold:
    return hold_credits(
        account=account, amount=amount, source=f"list:{name}", reason=f"customers {name}.csv"
    )


def charge(account: Account, *costs: int, key: ApiKey | None = None) -> list[Charge]:
    return [Charge(account, key, "deliverable" if cost else "unknown", cost, 5) for cost in costs]


def amounts(account: Account) -> tuple[int, int, int]:
    """Return balance, held credits, and debt, once the books agree."""
    assert not list(find_discrepancies())
    wallet = Wallet.objects.get(account=account)
    return wallet.balance, wallet.held, wallet.debt


def titles() -> list[str]:
    return list(Mail.objects.filter(subject__contains="credit").values_list("subject", flat=True))


def test_hold_moves_credits_out_of_the_balance_once_per_work(account: Account) -> None:
    held = hold(account, 60)
    assert (held.amount, held.remaining, held.charged) == (60, 60, 0)
    assert hold(account, 60) == held
    with pytest.raises(InsufficientCredits) as refused:
        hold(account, 41, "2")
    assert refused.value.details["balance"] == 40
    assert "60 more are held for work in progress" in refused.value.message
    assert amounts(account) == (40, 60, 0)


def test_charges_come_from_the_hold_and_its_rest_is_released_once(
    account: Account, key: ApiKey
) -> None:
    held = hold(account, 5)
    charge_hold(hold=held, charges=charge(account, 1, 1, 0, key=key))
    charge_hold(hold=held, charges=charge(account, 1, key=key))
    with pytest.raises(HoldEnded):
        charge_hold(hold=held, charges=charge(account, 1, 1, 1, key=key))
    assert amounts(account) == (95, 2, 0)
    assert UseHour.objects.filter(account=account, key=key).credits() == 3
    held.refresh_from_db()
    assert (held.charged, held.remaining) == (3, 2)
    assert [release_hold(hold=held) for _ in range(2)] == [2, 0]
    assert amounts(account) == (97, 0, 0)
    with pytest.raises(HoldEnded):
        charge_hold(hold=held, charges=charge(account, 0))


def test_shrunken_hold_returns_the_difference_and_can_be_charged_up_to_the_rest(
    account: Account,
) -> None:
    held = hold(account, 60)
    charge_hold(hold=held, charges=charge(account, *[1] * 50))
    assert [shrink_hold(hold=held, to=to) for to in (4, 4, 9)] == [6, 0, 0]
    assert amounts(account) == (46, 4, 0)
    with pytest.raises(HoldEnded):
        charge_hold(hold=held, charges=charge(account, *[1] * 5))
    charge_hold(hold=held, charges=charge(account, *[1] * 4))
    assert amounts(account) == (46, 0, 0)
    canceled = hold(account, 40, "2")
    deduct(account=account, amount=40, reason="Granted in error", actor=None)
    assert shrink_hold(hold=canceled, to=4) == 0
    assert amounts(account) == (6, 0, 0)


@pytest.mark.parametrize(
    ("amount", "after", "canceled"),
    [
        (10, (0, 90, 0), []),
        (11, (19, 70, 0), ["3"]),
        (30, (0, 70, 0), ["3"]),
        (31, (29, 40, 0), ["2", "3"]),
        (100, (0, 0, 0), ["1", "2", "3"]),
        (130, (0, 0, 30), ["1", "2", "3"]),
    ],
)
def test_deduction_takes_the_balance_then_the_newest_holds_then_makes_a_debt(
    account: Account, amount: int, after: tuple[int, int, int], canceled: list[str]
) -> None:
    holds = [hold(account, size, name) for name, size in (("1", 40), ("2", 30), ("3", 20))]
    deduct(account=account, amount=amount, reason="Granted in error", actor=None)
    assert amounts(account) == after
    ended = Hold.objects.filter(is_canceled=True).order_by("pk")
    assert [each.source.removeprefix("list:") for each in ended] == canceled
    for each in holds:
        if each in ended:
            with pytest.raises(HoldEnded):
                charge_hold(hold=each, charges=charge(account, 1))


def test_refund_of_an_order_cancels_holds_before_it_makes_a_debt(
    account: Account, order: Order
) -> None:
    pay(order)
    hold(account, 1_100)
    refunds.refund_order(order=order)
    assert amounts(account) == (100, 0, 0)


def test_free_plan_tops_up_what_is_neither_left_nor_held(account: Account) -> None:
    held = hold(account, 60)
    charge_hold(hold=held, charges=charge(account, *[1] * 30))
    with time_machine.travel(timezone.now() + timedelta(days=32), tick=False):
        renew_subscriptions()
    assert amounts(account) == (70, 30, 0)


def test_hold_sends_the_emails_that_a_charge_sends(account: Account) -> None:
    Wallet.objects.filter(account=account).update(usual_threshold=50)
    hold(account, 40, "1")
    assert titles() == []
    hold(account, 10, "2")
    assert titles() == ["50 credits left in The Shop"]
    hold(account, 50, "3")
    assert len(titles()) == 2
    assert "no credits left" in Mail.objects.latest("pk").text
    assert "100 more credits are held for work in progress" in Mail.objects.latest("pk").text


@pytest.mark.parametrize("amount", [60, 100])
def test_repeated_holds_send_one_email_until_credits_come_in(account: Account, amount: int) -> None:
    Wallet.objects.filter(account=account).update(usual_threshold=50)
    for number in range(4):
        release_hold(hold=hold(account, amount, f"{number}"))
    assert len(titles()) == 1
    grant(account=account, amount=1, reason="Sorry", actor=None)
    for number in range(4):
        release_hold(hold=hold(account, amount + 1, f"again {number}"))
    assert len(titles()) == 2


def test_refusal_separates_thousands() -> None:
    error = insufficient_credits(Wallet(balance=12_345, held=6_789), required=20_000)
    numbers = "costs 20,000 credits and your balance is 12,345, and 6,789 more are held"
    assert numbers in error.message


def test_charge_sends_the_low_balance_email_after_a_released_hold_did(account: Account) -> None:
    Wallet.objects.filter(account=account).update(usual_threshold=50)
    release_hold(hold=hold(account, 60, "1"))
    charge_account(*charge(account, *[1] * 50))
    assert titles() == ["40 credits left in The Shop", "50 credits left in The Shop"]


def test_request_is_refused_if_only_held_credits_are_left(
    account: Account, caller: ApiClient
) -> None:
    held = hold(account, 100)
    response = caller.validate("no address")
    assert response.status_code == 402
    error = response.json()["error"]
    assert error["details"]["balance"] == 0
    assert "100 more are held for work in progress" in error["message"]
    document = caller.get("/v1/credits").json()
    assert (document["balance"], document["held"]) == (0, 100)
    release_hold(hold=held)
    assert caller.validate("no address").status_code == 200


@pytest.mark.anywhere
@pytest.mark.parametrize("path", ["/credits/", "/credits/packs/", "/credits/ledger/"])
def test_billing_pages_show_held_credits(account: Account, owner: User, path: str) -> None:
    hold(account, 60)
    page = " ".join(signed_in(owner).get(path).content.decode().split())
    # In the navigation, and in the page's own words.
    assert "60 held" in page
    assert page.count("60 ") > 1
    assert "held for work in progress" in page


def test_statement_counts_held_credits_until_they_are_charged(account: Account) -> None:
    held = hold(account, 60)
    month = timezone.now().date().replace(day=1)
    assert monthly_statement(account, month).closing == 100
    charge_hold(hold=held, charges=charge(account, 1, 1))
    statement = monthly_statement(account, month)
    assert (statement.opening, statement.closing) == (0, 98)


@pytest.mark.anywhere
def test_staff_see_held_credits_and_what_a_deduction_canceled(
    account: Account, staff_client: Client
) -> None:
    held, _ = hold(account, 30, "1"), hold(account, 60, "2")
    page = staff_client.get(f"/admin/credits/hold/{held.pk}/change/").content.decode()
    assert "customers 1.csv" in page
    billing = staff_client.get(f"/admin/customers/{account.public_id}/?tab=billing")
    assert "Held" in billing.content.decode()
    path = f"/admin/accounts/account/{account.pk}/deduct/"
    form = {"amount": "11", "reason": "Granted in error", "form_token": "a" * 32}
    page = post_confirmed(staff_client, path, form, follow=True).content.decode()
    assert "The balance is 59, 30 are held." in page


def test_erasing_a_closed_account_releases_its_holds(account: Account, owner: User) -> None:
    hold(account, 60)
    close_account(account=account, actor=owner)
    assert amounts(account) == (40, 60, 0)
    with time_machine.travel(timezone.now() + timedelta(days=31), tick=False):
        retention.erase_closed_accounts()
    assert amounts(account) == (100, 0, 0)


def test_books_report_held_credits_that_no_hold_explains(account: Account) -> None:
    hold(account, 60)
    Hold.objects.update(remaining=50)
    (message,) = find_discrepancies()
    assert message == f"{account.public_id}: held 60 does not equal open holds 50."
    Wallet.objects.update(held=50)
    (message,) = find_discrepancies()
    assert "balance 40 + held 50 - debt 0 does not equal ledger 100 - usage 0" in message


def test_database_refuses_an_invalid_hold(account: Account) -> None:
    held = Hold.objects.filter(pk=hold(account, 60).pk)
    for change in (
        *({"remaining": -1}, {"charged": -1}, {"amount": 0}, {"charged": 1}, {"is_canceled": True}),
        {"ended_at": timezone.now()},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            held.update(**change)
