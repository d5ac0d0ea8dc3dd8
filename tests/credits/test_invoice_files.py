"""Invoices as files: downloads for customers and staff, and attachments of emails."""

import itertools
import re
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
import time_machine
from django.core import mail
from django.db.models import F
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, User
from accounts.retention import erase_account
from accounts.services import close_account
from credits.invoice_files import draw_invoices
from credits.invoices import fonts
from credits.invoices.drawing import draw
from credits.models import InvoiceFile, Order, Pack, Plan
from credits.models.invoice_files import RETRY_AFTER
from credits.models.refunds import MAX_LISTED
from credits.orders.fulfillment import fulfill_order
from credits.orders.placement import cancel_order, place_order
from credits.orders.quotes import Buyer, quote
from credits.orders.refunds import refund_order
from credits.presenters.invoice import describe_invoice
from runtime.mail.outbox import send_due
from runtime.models import Mail
from tests.conftest import signed_in
from tests.credits.time_travel import on
from tests.support.pdf_text import page_count, pdf_text

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

SHOP = Buyer("Łódź Sp. z o.o.", "ul. Przykładowa 1", "PL5260001246", "PL")


@pytest.fixture
def order(account: Account, owner: User, pack: Pack) -> Order:
    """An order whose invoice isn't drawn yet."""
    return place_order(quote=quote(account, pack, SHOP), buyer=SHOP, actor=owner)


def draw_due() -> None:
    draw_invoices(is_stopping=lambda: False)


def pdf_path(order: Order) -> str:
    return f"/credits/orders/{order.public_id}/invoice.pdf"


def test_invoice_is_drawn_without_a_log_line_and_downloaded_as_a_pdf(
    owner: User, order: Order, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    draw_due()
    assert caplog.text == ""
    browser = signed_in(owner)
    page = browser.get(f"/credits/orders/{order.public_id}/").content.decode()
    assert f'href="{pdf_path(order)}"' in page
    response = browser.get(pdf_path(order))
    assert response.headers["Content-Type"] == "application/pdf"
    assert response.headers["Content-Disposition"] == 'attachment; filename="INV-000001.pdf"'
    text = pdf_text(response.content)
    for line in ("Invoice", "Łódź Sp. z o.o.", "Poland", "VAT ID PL5260001246", "$5.00"):
        assert line in text


def test_order_without_a_number_has_no_pdf(
    account: Account, owner: User, pack: Pack, settings: Settings
) -> None:
    settings.STRIPE_SECRET_KEY = "sk_test"
    order = place_order(quote=quote(account, pack), buyer=SHOP, actor=owner)
    response = signed_in(owner).get(pdf_path(order))
    assert response.headers["Location"] == f"/credits/orders/{order.public_id}/invoice/"


def test_file_that_is_not_drawn_yet_is_ready_in_a_moment_for_customers_and_staff(
    owner: User, staff_client: Client, order: Order
) -> None:
    page = signed_in(owner).get(pdf_path(order), follow=True)
    assert page.redirect_chain == [(f"/credits/orders/{order.public_id}/", 302)]
    assert "The PDF will be ready in a moment." in page.content.decode()
    staff_path = f"/admin/credits/order/{order.pk}/"
    page = staff_client.get(f"{staff_path}invoice.pdf", follow=True)
    assert page.redirect_chain == [(f"{staff_path}change/", 302)]
    assert f'href="{staff_path}invoice.pdf"' in page.content.decode()
    draw_due()
    assert signed_in(owner).get(pdf_path(order)).status_code == 200
    assert staff_client.get(f"{staff_path}invoice.pdf").content.startswith(b"%PDF-")


def test_file_stays_with_its_order_when_the_account_is_erased(
    account: Account, owner: User, order: Order
) -> None:
    draw_due()
    with time_machine.travel(timezone.now() - timedelta(days=31), tick=False):
        close_account(account=account, actor=owner)
    erase_account(account=account)
    draw_due()
    assert "Canceled on" in pdf_text(bytes(InvoiceFile.objects.get(order=order).content or b""))


def test_failed_drawing_is_logged_and_tried_again(
    order: Order, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(fonts, "REGULAR", Path("/nowhere/Inter.ttf"))
        draw_due()
        assert f"Failed to draw the invoice of {order.public_id}" in caplog.text
    draw_due()
    assert InvoiceFile.objects.get().content is None
    with time_machine.travel(timezone.now() + RETRY_AFTER):
        draw_due()
    assert InvoiceFile.objects.get().content is not None


def test_file_drawn_from_an_outdated_order_is_not_stored(order: Order) -> None:
    drawing = InvoiceFile.objects.claim()
    assert drawing is not None
    fulfill_order(order=order)
    assert not drawing.release(content=b"unpaid")
    draw_due()
    assert "Paid on" in pdf_text(bytes(InvoiceFile.objects.get().content or b""))


def send_last_email() -> mail.EmailMessage:
    Mail.objects.exclude(pk=Mail.objects.latest("pk").pk).delete()
    send_due()
    (message,) = mail.outbox
    return message


@pytest.mark.parametrize("is_drawn", [True, False])
def test_invoice_is_attached_to_its_email_also_before_it_is_stored(
    order: Order, is_drawn: bool
) -> None:
    if is_drawn:
        draw_due()
    ((name, content, content_type),) = send_last_email().attachments
    assert (name, content_type) == ("INV-000001.pdf", "application/pdf")
    assert "Łódź Sp. z o.o." in pdf_text(content)


def test_receipt_of_a_card_payment_is_attached(order: Order) -> None:
    draw_due()
    fulfill_order(order=order, provider_payment="pi_1")
    ((_, content, _),) = send_last_email().attachments
    text = pdf_text(content)
    assert "Receipt" in text
    assert "Paid by card." in text


def test_email_is_sent_without_an_invoice_that_cannot_be_made(
    order: Order, caplog: pytest.LogCaptureFixture
) -> None:
    Mail.objects.update(attachment="ord_that_never_was")
    message = send_last_email()
    assert message.attachments == []
    assert "is sent without ord_that_never_was" in caplog.text


def test_invoice_has_a_row_for_each_refund(
    account: Account, owner: User, pack: Pack, staff: User
) -> None:
    with on("2026-11-02"):
        order = paid(place_order(quote=quote(account, pack, SHOP), buyer=SHOP, actor=owner))
    with on("2026-11-10"):
        refund_order(order=order, cents=100)
    with on("2026-11-12"):
        refund_order(order=order, cents=350, actor=staff, reason="Bought by mistake")
    rows = (
        ("Refunded on 10 Nov 2026", "\N{MINUS SIGN}$1.00"),
        ("Refunded on 12 Nov 2026", "\N{MINUS SIGN}$2.50"),
        ("Total after refunds", "$1.50"),
    )
    assert describe_invoice(order).refunds == rows
    draw_due()
    browser = signed_in(owner)
    page = browser.get(f"/credits/orders/{order.public_id}/invoice/").content.decode()
    pdf = pdf_text(browser.get(pdf_path(order)).content)
    for text in itertools.chain(*rows):
        assert text in page
        assert text in pdf
    email = Mail.objects.latest("pk").text
    assert re.search(r"Refunded on 10 Nov 2026 +\$1\.00\nRefunded now +\$2\.50", email)


def test_many_refunds_fit_on_the_page(order: Order) -> None:
    paid(order)
    for cents in range(10, 300, 10):
        refund_order(order=order, cents=cents)
    # Recorded by the former release.
    Order.objects.filter(pk=order.pk).update(refunded_cents=F("refunded_cents") + 5)
    order.refresh_from_db()
    invoice = describe_invoice(order)
    assert invoice.refunds[0] == ("Earlier refunds", "\N{MINUS SIGN}$2.15")
    assert len(invoice.refunds) == 1 + MAX_LISTED + 1
    assert invoice.refunds[-1] == ("Total after refunds", "$2.05")
    assert page_count(draw(invoice)) == 1


def paid(order: Order) -> Order:
    fulfill_order(order=order)
    order.refresh_from_db()
    return order


def test_canceled_order_asks_for_no_payment(owner: User, order: Order) -> None:
    draw_due()
    cancel_order(order=order, actor=owner)
    order.refresh_from_db()
    invoice = describe_invoice(order)
    assert invoice.payment == ()
    assert invoice.stamp.startswith("Canceled on")
    assert InvoiceFile.objects.get().content is None


def test_tax_line_names_its_reason(
    account: Account, owner: User, plans: dict[str, Plan], settings: Settings
) -> None:
    untaxed = place_order(quote=quote(account, plans["growth"], SHOP), buyer=SHOP, actor=owner)
    assert describe_invoice(untaxed).sums == ()
    settings.TAX_RATE, settings.SELLER_COUNTRY = Decimal("0.19"), "DE"
    order = place_order(quote=quote(account, plans["starter"], SHOP), buyer=SHOP, actor=owner)
    sums = (("Subtotal", "$15.00"), ("Tax, 0% · Reverse charge", "$0.00"))
    assert describe_invoice(order).sums == sums
    page = signed_in(owner).get(f"/credits/orders/{order.public_id}/").content.decode()
    assert "$15.00 net, $0.00 tax (0% · Reverse charge)" in page
