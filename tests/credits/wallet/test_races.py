"""Concurrent operations, each on its own connection, have one effect, and the books agree."""

from collections import Counter
from typing import Any

import pytest
from django.db import IntegrityError, OperationalError, connection
from django.test import Client
from pytest_django import Settings

from accounts.engine import get_engine
from accounts.models import Account, User
from accounts.services import open_account, run_email_confirmed_hooks
from apikeys.models import ApiKey
from apikeys.services import create_key
from credits import services
from credits.models import Hold, LedgerEntry, Order, Pack, Wallet
from credits.orders import fulfillment, refunds
from credits.payments.stripe.checkout import Stripe
from credits.wallet.books import find_discrepancies
from credits.wallet.charges import Charge, InsufficientCredits
from credits.wallet.holds import HoldEnded, charge_hold, hold_credits
from runtime.models import Mail
from tests.conftest import make_user, signed_in_by_form
from tests.credits.customers import balance, order_form, place_order
from tests.credits.payments.stripe_helpers import send_event
from tests.servers.stripe import FakeStripe
from tests.support.api_client import ApiClient
from tests.support.fresh_database import run_concurrently
from validation.charging.settlement import _process_account_queue, charge_and_record
from validation.models import LogEntry
from validation.validations import Caller, Validation, ValidationResponse

pytestmark = pytest.mark.usefixtures("fresh_database")


@pytest.fixture
def buyer() -> User:
    return make_user("buyer@shop.example")


@pytest.fixture
def shop(buyer: User) -> Account:
    account = open_account(user=buyer, name="The Shop")
    Account.objects.update(requests_per_minute_override=10_000)
    return account


@pytest.fixture
def secret(shop: Account, buyer: User) -> str:
    return create_key(account=shop, name="Server", actor=buyer)[1]


def count_emails(subject: str) -> int:
    return Mail.objects.filter(subject__contains=subject).count()


def test_one_of_50_concurrent_requests_gets_the_last_credit(shop: Account, secret: str) -> None:
    services.grant(account=shop, amount=1, reason="One", actor=None)
    responses = run_concurrently(50, lambda _: ApiClient(secret).validate("no address"))
    assert Counter(response.status_code for response in responses) == {200: 1, 402: 49}
    assert balance(shop) == 0
    assert LogEntry.objects.filter(status=200, cost=1).count() == 1
    assert not list(find_discrepancies())


@pytest.mark.parametrize("granted", [1, 50])
def test_20_concurrent_requests_with_one_idempotency_key_share_one_charge(
    shop: Account, secret: str, granted: int
) -> None:
    services.grant(account=shop, amount=granted, reason="Some", actor=None)
    responses = run_concurrently(
        20, lambda _: ApiClient(secret).validate("no address", Idempotency_Key="one")
    )
    assert {response.status_code for response in responses} == {200}
    assert len({response.content for response in responses}) == 1
    assert sum(int(response.headers["X-Credits-Cost"]) for response in responses) == 1
    assert balance(shop) == granted - 1
    assert not list(find_discrepancies())


def test_concurrent_charges_send_one_low_and_one_zero_balance_email(
    shop: Account, secret: str
) -> None:
    services.grant(account=shop, amount=30, reason="Some", actor=None)
    responses = run_concurrently(
        20, lambda _: [ApiClient(secret).validate("none") for _ in range(2)]
    )
    assert sum(response.status_code == 200 for pair in responses for response in pair) == 30
    assert count_emails("10 credits left in The Shop") == 1
    assert count_emails("No credits left in The Shop") == 1
    assert Mail.objects.filter(subject__contains="left in").count() == 2


def test_concurrent_holds_take_no_more_than_the_balance(shop: Account) -> None:
    services.grant(account=shop, amount=100, reason="Some", actor=None)
    held = run_concurrently(
        10,
        lambda number: hold_credits(
            account=shop, amount=30, source=f"list:{number % 5}", reason="A list"
        ),
    )
    assert sum(isinstance(result, Hold) for result in held) >= 3
    assert {type(result) for result in held} <= {Hold, InsufficientCredits}
    wallet = Wallet.objects.get(account=shop)
    assert (wallet.balance, wallet.held) == (10, 90)
    assert not list(find_discrepancies())


def test_charges_of_a_hold_race_with_its_cancellation(shop: Account, secret: str) -> None:
    services.grant(account=shop, amount=100, reason="Some", actor=None)
    hold = hold_credits(account=shop, amount=90, source="list:1", reason="A list")

    def act(number: int) -> object:
        if number == 7:
            return services.deduct(account=shop, amount=50, reason="Error", actor=None)
        if number % 2:
            return ApiClient(secret).validate("no address").status_code
        charges = [Charge(shop, None, "deliverable", 1, 5) for _ in range(5)]
        return charge_hold(hold=Hold.objects.get(), charges=charges)

    results = run_concurrently(16, act)
    assert {type(result) for result in results} <= {int, bool, type(None), HoldEnded}
    hold.refresh_from_db()
    assert (hold.is_canceled, hold.remaining) == (True, 0)
    assert hold.charged == 5 * sum(result is None for result in results)
    assert not list(find_discrepancies())


def test_staff_form_submitted_20_times_grants_once(shop: Account) -> None:
    staff = make_user("staff@service.example", is_staff=True)

    def send(_: int) -> Any:
        return services.grant(
            account=shop, amount=50, reason="Sorry", actor=staff, form_token="x" * 32
        )

    assert Counter(run_concurrently(20, send)) == {True: 1, False: 19}
    assert balance(shop) == 50


def test_order_form_submitted_10_times_places_one_order(shop: Account) -> None:
    pack = Pack.objects.earliest("credits")
    order_ids = run_concurrently(10, lambda _: place_order(shop, pack, "y" * 32).pk)
    assert len(set(order_ids)) == 1
    assert Order.objects.get().invoice_number == 1


def test_order_marked_paid_10_times_grants_once(shop: Account) -> None:
    order = place_order(shop, Pack.objects.earliest("credits"))
    fulfilled = run_concurrently(
        10, lambda _: fulfillment.fulfill_order(order=Order.objects.get(pk=order.pk))
    )
    assert Counter(fulfilled) == {True: 1, False: 9}
    assert balance(shop) == 1_000
    assert count_emails("Receipt") == 1


def test_refund_recorded_10_times_deducts_once(shop: Account) -> None:
    order = place_order(shop, Pack.objects.earliest("credits"))
    fulfillment.fulfill_order(order=order)
    refunded = run_concurrently(
        10, lambda _: refunds.refund_order(order=Order.objects.get(pk=order.pk))
    )
    assert Counter(refunded) == {True: 1, False: 9}
    assert balance(shop) == 0
    assert not list(find_discrepancies())


def test_partial_refund_submitted_10_times_is_made_once(shop: Account, buyer: User) -> None:
    order = place_order(shop, Pack.objects.earliest("credits"))
    fulfillment.fulfill_order(order=order)
    order.refresh_from_db()
    copies = [Order.objects.get(pk=order.pk) for _ in range(10)]
    refunded = run_concurrently(
        10, lambda n: refunds.refund_part(order=copies[n], cents=100, actor=buyer, reason="Twice")
    )
    assert Counter(refunded) == {True: 1, False: 9}
    assert balance(shop) == 800
    assert not list(find_discrepancies())


def test_concurrent_invoices_use_every_number_once(shop: Account) -> None:
    packs = list(Pack.objects.all())
    numbers = run_concurrently(8, lambda n: place_order(shop, packs[n % 4]).invoice_number)
    assert sorted(numbers) == list(range(1, 9))
    assert not list(find_discrepancies())


def test_concurrent_confirmations_of_one_mailbox_grant_credits_once() -> None:
    spellings = ["jane.doe@gmail.com", "janedoe+a@gmail.com", "j.a.n.e.d.o.e@googlemail.com"]
    users = [make_user(email) for email in spellings]
    for user in users:
        open_account(user=user)
    run_concurrently(3, lambda number: run_email_confirmed_hooks(user=users[number]))
    assert LedgerEntry.objects.filter(kind="signup").count() == 1
    assert sum(Wallet.objects.values_list("balance", flat=True)) == 100


def test_concurrent_confirmations_at_one_domain_grant_credits_to_three(settings: Settings) -> None:
    settings.SIGN_UP_CREDITS_PER_DOMAIN = 3
    users = [make_user(f"user{number}@firm.example") for number in range(12)]
    for user in users:
        open_account(user=user)
    results = run_concurrently(12, lambda number: run_email_confirmed_hooks(user=users[number]))
    assert results == [None] * 12
    assert LedgerEntry.objects.filter(kind="signup").count() == 3
    assert sorted(Wallet.objects.values_list("balance", flat=True)) == [0] * 9 + [100] * 3


def test_stripe_event_received_10_times_concurrently_grants_once(
    shop: Account, stripe: FakeStripe
) -> None:
    order = place_order(shop, Pack.objects.earliest("credits"))
    Stripe().begin(order)
    event = stripe.pay(stripe.find_session(order.public_id))
    assert set(run_concurrently(10, lambda _: send_event(event))) == {200}
    assert balance(shop) == 1_000
    assert count_emails("Receipt") == 1
    assert not list(find_discrepancies())


def test_20_concurrent_posts_of_one_order_form_leave_one_payment_page_open(
    shop: Account, buyer: User, stripe: FakeStripe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stripe, "delay", 0.2)
    pack = Pack.objects.earliest("credits")
    path, form = f"/credits/packs/{pack.public_id}/", order_form(shop, pack)
    cookies = signed_in_by_form(buyer).cookies

    def send(_: int) -> tuple[int, str]:
        client = Client()
        client.cookies = cookies
        response = client.post(path, form)
        return response.status_code, response.headers["Location"]

    responses = run_concurrently(20, send)
    order = Order.objects.get()
    assert set(responses) == {(302, order.provider_url)}
    assert stripe.open_sessions(order.public_id) == [order.provider_session]
    assert order.provider_url == stripe.sessions[order.provider_session]["url"]


def make_validation(shop: Account, secret: str, **fields: Any) -> Validation:
    key = ApiKey.objects.select_related("account__wallet").get(account=shop)
    caller = Caller(key.account, key, "req_x")
    return Validation(caller, "none", get_engine().check("none"), False, 1, **fields)


def test_request_that_cannot_be_recorded_is_not_charged_and_fails_alone(
    shop: Account, secret: str
) -> None:
    services.grant(account=shop, amount=20, reason="Some", actor=None)
    without_id: Any = {"id": None}
    validations = [
        make_validation(shop, secret, **(without_id if n == 5 else {})) for n in range(10)
    ]
    responses = run_concurrently(10, lambda number: charge_and_record(validations[number]))
    assert isinstance(responses.pop(5), IntegrityError)
    assert sorted(response.balance for response in responses) == list(range(11, 20))
    assert balance(shop) == 11
    assert not list(find_discrepancies())


def test_requests_charged_before_the_database_failed_get_their_response(
    shop: Account, secret: str
) -> None:
    """Charges of one account use separate transactions: a failed one undoes none before it."""
    services.grant(account=shop, amount=20, reason="Some", actor=None)
    validations = [make_validation(shop, secret, idempotency_key=f"key-{n}") for n in range(5)]
    inserts = []

    def fail(execute: Any, statement: str, *arguments: Any) -> Any:
        if "INSERT INTO validation_replay" in statement:
            inserts.append(statement)
            if len(inserts) > 2:
                raise OperationalError("The database went away.")
        return execute(statement, *arguments)

    with connection.execute_wrapper(fail):
        first, second, *errors = _process_account_queue(validations)
    assert isinstance(first, ValidationResponse)
    assert isinstance(second, ValidationResponse)
    assert [type(error) for error in errors] == [OperationalError] * 3
    # The charges after the third were not tried.
    assert len(inserts) == 3
    assert balance(shop) == 18
    assert not list(find_discrepancies())
