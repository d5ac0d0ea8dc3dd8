from contextlib import suppress

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from credits.invoice_files import NOT_DRAWN, invoice_response
from credits.models import Order, OrderKind
from credits.orders import placement
from credits.payments import PaymentUnavailable, get_provider
from credits.presenters.invoice import describe_invoice, order_tax, refund_rows
from credits.presenters.orders import nothing_to_pay, order_outcome
from runtime.http.form_targets import allow_forms_to
from runtime.http.refusals import show_refusal

PAGE = "credits:show-orders"
ORDERS_PER_PAGE = 25
allow_payment_page = allow_forms_to(
    lambda: [settings.STRIPE_CHECKOUT_URL] if settings.STRIPE_SECRET_KEY else []
)


@require_permission(TeamPermission.BUY)
def show_orders(request: AccountRequest) -> HttpResponse:
    pages = Paginator(request.account.orders.all(), ORDERS_PER_PAGE)
    page = pages.get_page(request.GET.get("page"))
    return render(request, "credits/show_orders.html", {"page": page})


@require_permission(TeamPermission.BUY)
@allow_payment_page
def show_order(request: AccountRequest, order_id: str) -> HttpResponse:
    """The provider redirects here, but only its event confirms payment."""
    order = _get_order(request, order_id)
    if "poll" in request.GET and order.is_pending:
        return HttpResponse(status=204)
    context = {
        "order": order,
        "outcome": order_outcome(order),
        "is_confirming": order.is_pending and request.GET.get("payment") == "finished",
        "tax": order_tax(order),
        "refunds": refund_rows(order),
        # The page from which the customer ordered.
        "next": request.session.get(order.public_id),
    }
    return render(request, "credits/show_order.html", context)


@require_permission(TeamPermission.BUY)
def show_invoice(request: AccountRequest, order_id: str) -> HttpResponse:
    order = _get_order(request, order_id)
    if order.invoice_number is None:
        messages.info(request, "You'll get the invoice once the order is paid.")
        return redirect("credits:show-order", order_id=order.public_id)
    context = {"order": order, "invoice": describe_invoice(order)}
    return render(request, "credits/show_invoice.html", context)


@require_permission(TeamPermission.BUY)
def download_invoice(request: AccountRequest, order_id: str) -> HttpResponse:
    order = _get_order(request, order_id)
    if order.invoice_number is None:
        return redirect("credits:show-invoice", order_id=order.public_id)
    response = invoice_response(order)
    if response is None:
        messages.info(request, NOT_DRAWN)
        return redirect("credits:show-order", order_id=order.public_id)
    return response


@require_permission(TeamPermission.BUY, form_page=PAGE)
def pay_order(request: AccountRequest, order_id: str) -> HttpResponse:
    return redirect_to_payment(request, _get_order(request, order_id))


@require_permission(TeamPermission.BUY, form_page=PAGE)
def cancel_order(request: AccountRequest, order_id: str) -> HttpResponse:
    order = _get_order(request, order_id)
    if order.kind == OrderKind.RENEWAL:
        messages.info(request, "To cancel a renewal, change to Free.")
        return redirect("credits:choose-plan")
    if placement.cancel_order(order=order, actor=request.user):
        with suppress(PaymentUnavailable):
            # On failure, the page expires. A payment that arrives anyway is fulfilled.
            if provider := get_provider(order):
                provider.withdraw(order)
        messages.success(request, f"Canceled {order.number}. Nothing is due.")
    else:
        messages.info(request, f"{order.number} is no longer waiting for payment.")
    return redirect("credits:show-order", order_id=order.public_id)


def redirect_to_payment(request: AccountRequest, order: Order) -> HttpResponse:
    """Redirect to the payment page, or to the order's page if there is nothing to pay there."""
    page = reverse("credits:show-order", args=[order.public_id])
    with show_refusal(request):
        if provider := get_provider(order):
            if provider.begin(order):
                return redirect(order.provider_url)
            if order.is_pending:
                return redirect(f"{page}?payment=finished")
            messages.info(request, nothing_to_pay(order))
    return redirect(page)


def _get_order(request: AccountRequest, order_id: str) -> Order:
    orders = request.account.orders.select_related("plan", "account")
    return get_object_or_404(orders, public_id=order_id)
