from datetime import date, datetime

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.views.decorators.http import require_safe

from accounts.staff.read_only import ReadOnlyAdmin
from credits.invoice_files import NOT_DRAWN, invoice_response
from credits.models import Order
from credits.presenters.invoice import tax_label
from credits.staff.action_admin import StaffActionsAdmin
from credits.staff.order_actions import ORDER_ACTIONS
from credits.staff.search import ACCOUNT_SEARCH_FIELDS


class OrderAdmin(StaffActionsAdmin[Order], ReadOnlyAdmin):
    list_display = ("number", "account", "description", "state", "total", "method", "placed_at")
    list_filter = ("state", "method", "kind", "placed_at")
    list_select_related = ("account",)
    search_fields = (
        "public_id",
        "invoice_number",
        "buyer_name",
        "provider_payment",
        *ACCOUNT_SEARCH_FIELDS,
    )
    search_help_text = "Invoice number without INV-, ord_…, name on the invoice, account or email"
    date_hierarchy = "placed_at"
    exclude = ("form_token", "provider_url")
    fields = (
        *("number", "account", "description", "credits", "kind", "state", "method"),
        *("net", "tax", "total", "refunded", "period_start", "last_day", "requests_per_minute"),
        *("buyer_name", "buyer_address", "buyer_country", "buyer_tax_id", "payment_details"),
        *("placed_by", "placed_at", "invoiced_on", "due_on", "paid_at", "cancelled_at"),
        *("refunded_in_full", "public_id", "provider_payment", "provider_invoice"),
        *("seller_name", "seller_address", "seller_tax_id"),
    )
    staff_actions = ORDER_ACTIONS
    change_form_template = "admin/credits/order.html"

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(require_safe(self.download_invoice))
        url = path("<path:object_id>/invoice.pdf", view, name="credits_order_invoice")
        return [url, *super().get_urls()]

    def download_invoice(self, request: HttpRequest, object_id: str) -> HttpResponse:
        order = self.get_object(request, object_id)
        if order is None or order.invoice_number is None:
            raise Http404
        if not self.has_view_permission(request, order):
            raise PermissionDenied
        response = invoice_response(order)
        if response is None:
            self.message_user(request, NOT_DRAWN)
            return redirect("admin:credits_order_change", object_id)
        return response

    @admin.display(ordering="net_cents")
    def total(self, order: Order) -> str:
        return order.money(order.total_cents)

    @admin.display
    def net(self, order: Order) -> str:
        label = tax_label(order.tax_rate, order.tax_reason)
        return order.money(order.net_cents) if label else ""

    @admin.display
    def tax(self, order: Order) -> str:
        label = tax_label(order.tax_rate, order.tax_reason)
        return f"{order.money(order.tax_cents)} ({label})" if label else ""

    @admin.display
    def refunded(self, order: Order) -> str:
        return order.money(order.refunded_cents) if order.refunded_cents else ""

    @admin.display(ordering="refunded_at")
    def refunded_in_full(self, order: Order) -> datetime | None:
        return order.refunded_at

    @admin.display(description="last day of the period")
    def last_day(self, order: Order) -> date | None:
        return order.last_day
