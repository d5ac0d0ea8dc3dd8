"""Staff refund an order in full or in part, after a page that shows what will change."""

import re

import pytest
from django.test import Client

from accounts.models import Account, User
from credits import services
from credits.models import Order, Pack, Wallet
from credits.orders.refunds import refund_part
from credits.plans.offers import OrderRefused
from runtime.mail.outbox import Mail
from tests.conftest import signed_in
from tests.credits.customers import pay, place_order
from tests.support.staff_forms import hidden_fields, post_confirmed

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

FORM = {"form_token": "a" * 32, "amount": "10.00", "reason": "Bought by mistake"}


@pytest.fixture
def order(account: Account) -> Order:
    """A paid order of 10,000 credits for $35.00, in an account with 100 more."""
    order = place_order(account, Pack.objects.get(credits=10_000))
    pay(order)
    return Order.objects.get(pk=order.pk)


def path_of(order: Order) -> str:
    return f"/admin/credits/order/{order.pk}/refund/"


def refund(staff_client: Client, order: Order, **form: str) -> str:
    page = post_confirmed(staff_client, path_of(order), {**FORM, **form}, follow=True)
    return " ".join(page.content.decode().split())


def spend(account: Account, credits: int, staff: User) -> None:
    services.deduct(account=account, amount=credits, reason="Spent", actor=staff)


def test_page_shows_what_a_refund_changes_and_changes_nothing(
    staff_client: Client, order: Order, account: Account, staff: User
) -> None:
    spend(account, 3_863, staff)
    page = staff_client.post(path_of(order), {**FORM, "amount": "35"}).content.decode()
    text = " ".join(page.split())
    assert "$0.00 of $35.00" in text
    assert "$35.00 of $35.00" in text
    assert "<td>6,237</td>" in text
    assert "3,763 of 10,000 credits are spent and become a debt." in text
    assert "Return $35.00 yourself by bank transfer." in text
    order.refresh_from_db()
    assert (order.state, order.refunded_cents) == ("paid", 0)
    assert Wallet.objects.get(account=account).balance == 6_237


def test_refunds_by_amount_deduct_their_share_up_to_the_total(
    staff_client: Client, order: Order
) -> None:
    assert "Refunded INV-000001: $10.00. The balance is 7,243." in refund(staff_client, order)
    page = refund(staff_client, order, amount="25.01")
    assert "At most 25.00 can be refunded." in page
    assert "Refunded INV-000001: $25.00. The balance is 100." in refund(
        staff_client, order, amount="25.00"
    )
    order.refresh_from_db()
    assert order.state == "refunded"
    text = Mail.objects.filter(subject__startswith="Refund of").latest("pk").text
    assert re.search(r"Refunded on \d+ \w+ \d{4} +\$10\.00\nRefunded now +\$25\.00", text)


def test_confirmation_sent_twice_refunds_once(staff_client: Client, order: Order) -> None:
    confirmation = hidden_fields(staff_client.post(path_of(order), FORM))
    staff_client.post(path_of(order), confirmation)
    second = staff_client.post(path_of(order), confirmation)
    assert "The numbers have changed. Check them, then confirm." in second.content.decode()
    order.refresh_from_db()
    assert order.refunded_cents == 1_000


def test_refund_seen_before_another_one_is_refused_or_was_recorded_by_it(
    order: Order, staff: User
) -> None:
    seen_by_both = [Order.objects.get(pk=order.pk) for _ in range(2)]
    assert refund_part(order=order, cents=1_000, actor=staff, reason="First")
    with pytest.raises(OrderRefused, match="Another refund of INV-000001 was recorded"):
        refund_part(order=seen_by_both[0], cents=500, actor=staff, reason="Second")
    # The provider has reported this one.
    assert not refund_part(order=seen_by_both[1], cents=1_000, actor=staff, reason="First")
    order.refresh_from_db()
    assert order.refunded_cents == 1_000


def test_invalid_amount_is_refused(staff_client: Client, order: Order) -> None:
    for amount in ("0", "-1", "35.01", "0.001", "ten", "", "1e9"):
        page = staff_client.post(path_of(order), {**FORM, "amount": amount}).content.decode()
        assert "errorlist" in page, amount
        assert 'name="preview"' not in page, amount


def test_grant_shows_the_balance_before_and_after(staff_client: Client, account: Account) -> None:
    form = {"form_token": "a" * 32, "amount": "5000", "reason": "Sorry"}
    page = staff_client.post(f"/admin/accounts/account/{account.pk}/grant/", form).content.decode()
    assert "<td>100</td>" in page
    assert "<strong>5,100</strong>" in page
    assert Wallet.objects.get(account=account).balance == 100


def test_members_of_a_suspended_account_read_the_reason(
    staff_client: Client, account: Account, owner: User
) -> None:
    form = {"form_token": "a" * 32, "reason": "A payment is disputed"}
    path = f"/admin/accounts/account/{account.pk}/suspend/"
    assert "errorlist" in staff_client.post(path, {**form, "reason": " "}).content.decode()
    staff_client.post(path, form)
    page = signed_in(owner).get("/validation/").content.decode()
    assert "Reason: <bdi>A payment is disputed</bdi>." in page
    page = staff_client.get(f"/admin/customers/{account.public_id}/").content.decode()
    assert "A payment is disputed" in page
