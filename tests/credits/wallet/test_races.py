"""Many at once, each with a connection of its own: one effect, and books that agree."""

import json
from collections import Counter
from typing import Any

import pytest
from django.db import IntegrityError, OperationalError, connection
from django.test import Client
from pytest_django import Settings

from accounts.engine import engine
from accounts.models import Account, User
from accounts.services import note_confirmed, open_account
from apikeys.models import ApiKey
from apikeys.services import create_key
from credits import services
from credits.models import LedgerEntry, Order, Pack, Plan, Wallet
from credits.orders import lifecycle, refunds
from credits.orders.lifecycle import Buyer
from credits.payments import method_of
from credits.wallet.books import differences
from runtime.models import Mail
from tests.conftest import make_user, signed_in
from tests.servers.stripe import SECRET_KEY, WEBHOOK_SECRET, fake_stripe, sign
from tests.support.api_client import ApiClient
from tests.support.fresh_database import at_once
from validation.models import LogEntry
from validation.request_log.writer import Caller
from validation.settlement import Validation, ValidationResponse, _settle_in_lane, charge_and_record

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


def wallet_of(account: Account) -> Wallet:
    return Wallet.objects.get(account=account)


def mails(subject: str) -> int:
    return Mail.objects.filter(subject__contains=subject).count()


def place(shop: Account, buyer: User, item: Pack | Plan, token: str | None = None) -> Order:
    return lifecycle.start_order(
        account=shop, item=item, buyer=Buyer("The Shop Ltd"), actor=buyer, form_token=token
    )


def test_of_50_callers_for_the_last_credit_one_gets_it(shop: Account, secret: str) -> None:
    services.grant(account=shop, amount=1, reason="One", actor=None)
    answers = at_once(50, lambda _: ApiClient(secret).validate("no address"))
    assert Counter(answer.status_code for answer in answers) == {200: 1, 402: 49}
    assert wallet_of(shop).balance == 0
    assert LogEntry.objects.filter(status=200, cost=1).count() == 1
    assert not list(differences())


def test_with_one_idempotency_key_20_callers_share_one_charge(shop: Account, secret: str) -> None:
    services.grant(account=shop, amount=1, reason="One", actor=None)
    answers = at_once(20, lambda _: ApiClient(secret).validate("no address", Idempotency_Key="one"))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert sum(int(answer.headers["X-Credits-Cost"]) for answer in answers) == 1
    assert wallet_of(shop).balance == 0


def test_a_low_and_a_zero_balance_are_told_once_whoever_charges(shop: Account, secret: str) -> None:
    services.grant(account=shop, amount=30, reason="Some", actor=None)
    answers = at_once(20, lambda _: [ApiClient(secret).validate("none") for _ in range(2)])
    assert sum(answer.status_code == 200 for pair in answers for answer in pair) == 30
    assert mails("10 credits are left in The Shop") == 1
    assert mails("No credits are left in The Shop") == 1
    assert Mail.objects.filter(subject__contains="left in").count() == 2


def test_a_form_of_staff_sent_20_times_grants_once(shop: Account) -> None:
    staff = make_user("staff@service.example", is_staff=True)

    def send(_: int) -> Any:
        return services.grant(
            account=shop, amount=50, reason="Sorry", actor=staff, form_token="x" * 32
        )

    assert Counter(at_once(20, send)) == {True: 1, False: 19}
    assert wallet_of(shop).balance == 50


def test_a_checkout_sent_10_times_places_one_order(shop: Account, buyer: User) -> None:
    pack = Pack.objects.earliest("credits")
    placed = at_once(10, lambda _: place(shop, buyer, pack, "y" * 32).pk)
    assert len(set(placed)) == 1
    assert Order.objects.get().invoice_number == 1


def test_an_order_marked_paid_10_times_grants_once(shop: Account, buyer: User) -> None:
    order = place(shop, buyer, Pack.objects.earliest("credits"))
    fulfilled = at_once(10, lambda _: lifecycle.fulfil_order(order=Order.objects.get(pk=order.pk)))
    assert Counter(fulfilled) == {True: 1, False: 9}
    assert wallet_of(shop).balance == 1_000
    assert mails("Receipt") == 1


def test_a_refund_told_10_times_takes_once(shop: Account, buyer: User) -> None:
    order = place(shop, buyer, Pack.objects.earliest("credits"))
    lifecycle.fulfil_order(order=order)
    refunded = at_once(10, lambda _: refunds.refund_order(order=Order.objects.get(pk=order.pk)))
    assert Counter(refunded) == {True: 1, False: 9}
    assert wallet_of(shop).balance == 0
    assert not list(differences())


def test_invoices_written_at_once_have_every_number_once(shop: Account, buyer: User) -> None:
    packs = list(Pack.objects.all())
    numbers = at_once(8, lambda n: place(shop, buyer, packs[n % 4]).invoice_number)
    assert sorted(numbers) == list(range(1, 9))
    assert not list(differences())


def test_one_mailbox_confirmed_in_many_spellings_at_once_gets_credits_once() -> None:
    spellings = ["jane.doe@gmail.com", "janedoe+a@gmail.com", "j.a.n.e.d.o.e@googlemail.com"]
    users = [make_user(email) for email in spellings]
    for user in users:
        open_account(user=user)
    at_once(3, lambda number: note_confirmed(user=users[number]))
    assert LedgerEntry.objects.filter(kind="signup").count() == 1
    assert sum(Wallet.objects.values_list("balance", flat=True)) == 100


def test_one_event_of_stripe_ten_times_at_once_grants_once(
    shop: Account, buyer: User, settings: Settings
) -> None:
    with fake_stripe() as stripe:
        settings.STRIPE_SECRET_KEY, settings.STRIPE_WEBHOOK_SECRET = SECRET_KEY, WEBHOOK_SECRET
        settings.STRIPE_API_URL = stripe.url
        order = place(shop, buyer, Pack.objects.earliest("credits"))
        method_of(order).begin(order)
        payload = json.dumps(stripe.pay(stripe.session_of(order.public_id))).encode()

    def tell(_: int) -> int:
        return (
            Client()
            .post(
                "/credits/stripe/",
                payload,
                content_type="application/json",
                headers={"Stripe-Signature": sign(payload)},
            )
            .status_code
        )

    assert set(at_once(10, tell)) == {200}
    assert wallet_of(shop).balance == 1_000
    assert mails("Receipt") == 1
    assert not list(differences())


def test_20_parallel_posts_of_one_order_form_leave_one_payment_page_open(
    shop: Account, buyer: User, settings: Settings
) -> None:
    path = f"/credits/packs/{Pack.objects.earliest('credits').public_id}/"
    form = {"name": "The Shop Ltd", "address": "1 Example Street", "form_token": "z" * 32}
    cookies = signed_in(buyer).cookies
    with fake_stripe() as stripe:
        settings.STRIPE_SECRET_KEY, settings.STRIPE_WEBHOOK_SECRET = SECRET_KEY, WEBHOOK_SECRET
        settings.STRIPE_API_URL, stripe.delay = stripe.url, 0.2

        def send(_: int) -> tuple[int, str]:
            client = Client()
            client.cookies = cookies
            answer = client.post(path, form)
            return answer.status_code, answer.headers["Location"]

        answers = at_once(20, send)
        order = Order.objects.get()
        assert set(answers) == {(302, f"/credits/orders/{order.public_id}/")}
        assert stripe.open_sessions(order.public_id) == [order.provider_session]
        assert order.provider_url == stripe.sessions[order.provider_session]["url"]


def asked(shop: Account, secret: str, **others: Any) -> Validation:
    key = ApiKey.objects.select_related("account__wallet").get(account=shop)
    asker = Caller(key.account, key, "req_x")
    return Validation(asker, "none", engine().check("none"), False, 1, **others)


def test_what_cannot_be_recorded_is_not_charged_and_fails_nobody_else(
    shop: Account, secret: str
) -> None:
    services.grant(account=shop, amount=20, reason="Some", actor=None)
    nameless: Any = {"id": None}
    validations = [asked(shop, secret, **(nameless if n == 5 else {})) for n in range(10)]
    settled = at_once(10, lambda number: charge_and_record(validations[number]))
    assert isinstance(settled.pop(5), IntegrityError)
    assert sorted(answer.balance for answer in settled) == list(range(11, 20))
    assert wallet_of(shop).balance == 11
    assert not list(differences())


def test_who_was_charged_before_the_database_went_is_answered(shop: Account, secret: str) -> None:
    """In one lane each has a transaction of its own: what ends the third undoes none before it."""
    services.grant(account=shop, amount=20, reason="Some", actor=None)
    validations = [asked(shop, secret, idempotency_key=f"key-{n}") for n in range(5)]
    kept = []

    def go_away(execute: Any, statement: str, *others: Any) -> Any:
        if statement.startswith("INSERT INTO") and "validation_replay" in statement:
            kept.append(statement)
            if len(kept) > 2:
                raise OperationalError("The database went away.")
        return execute(statement, *others)

    with connection.execute_wrapper(go_away):
        first, second, *others = _settle_in_lane(validations)
    assert isinstance(first, ValidationResponse)
    assert isinstance(second, ValidationResponse)
    assert [type(one) for one in others] == [OperationalError] * 3
    # Those after the third did not try.
    assert len(kept) == 3
    assert wallet_of(shop).balance == 18
    assert not list(differences())
