"""An account's orders, and their invoices."""

from contextlib import suppress

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from accounts.permissions import form_on_page, require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from credits.models import Order
from credits.orders import lifecycle
from credits.payments import PaymentUnavailable, method_of

PAGE = "credits:show-orders"
SHOWN = 25


@require_safe
@require_permission(TeamPermission.BUY)
def show_orders(request: AccountRequest) -> HttpResponse:
    pages = Paginator(request.account.orders.all(), SHOWN)
    page = pages.get_page(request.GET.get("page"))
    return render(request, "credits/show_orders.html", {"page": page})


@require_safe
@require_permission(TeamPermission.BUY)
def show_order(request: AccountRequest, order_id: str) -> HttpResponse:
    """Also where the payment provider leads back to: what is paid is known from its event alone."""
    return render(request, "credits/show_order.html", {"order": _order(request, order_id)})


@require_safe
@require_permission(TeamPermission.BUY)
def show_invoice(request: AccountRequest, order_id: str) -> HttpResponse:
    order = _order(request, order_id)
    if order.invoice_number is None:
        messages.info(request, "The invoice is written when the order is paid.")
        return redirect("credits:show-order", order_id=order.public_id)
    return render(request, "credits/show_invoice.html", {"order": order})


@form_on_page(PAGE)
@require_permission(TeamPermission.BUY)
def pay_order(request: AccountRequest, order_id: str) -> HttpResponse:
    """Opens the provider's page again; the order's own page leads there."""
    order = _order(request, order_id)
    try:
        if order.is_pending:
            method_of(order).begin(order)
    except PaymentUnavailable as trouble:
        messages.error(request, str(trouble))
    return redirect("credits:show-order", order_id=order.public_id)


@form_on_page(PAGE)
@require_permission(TeamPermission.BUY)
def cancel_order(request: AccountRequest, order_id: str) -> HttpResponse:
    order = _order(request, order_id)
    if order.kind == Order.Kind.RENEWAL:
        messages.info(request, "A renewal ends with the plan: choose Free to end it.")
        return redirect("credits:choose-plan")
    if lifecycle.cancel_order(order=order, actor=request.user, ip=request.ip):
        with suppress(PaymentUnavailable):
            # Its payment page runs out by itself; money that comes all the same is honoured.
            method_of(order).withdraw(order)
        messages.success(request, f"{order.number} is cancelled. Nothing is to be paid.")
    else:
        messages.info(request, f"{order.number} does not wait for payment any more.")
    return redirect("credits:show-order", order_id=order.public_id)


def _order(request: AccountRequest, order_id: str) -> Order:
    found = request.account.orders.select_related("plan", "account")
    return get_object_or_404(found, public_id=order_id)
