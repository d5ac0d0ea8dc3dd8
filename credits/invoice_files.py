"""Invoices as PDF files: to download, and attached to emails."""

from django.http import HttpResponse

from accounts.date_display import DEFAULT_DISPLAY, use_date_display
from credits.invoices.rendering import render
from credits.models import Order
from credits.presenters.invoice import describe_invoice
from runtime.mail.attachments import Attachment


def attached_invoice(*, reference: str) -> Attachment:
    """Return the invoice of the order with this id, or raise RenderingFailed. A hook."""
    order = Order.objects.get(public_id=reference)
    with use_date_display(DEFAULT_DISPLAY):
        return _invoice_file(order)


def invoice_response(order: Order) -> HttpResponse:
    """Return the invoice as a file to save, or raise RenderingFailed."""
    file = _invoice_file(order)
    return HttpResponse(
        file.content,
        content_type=file.content_type,
        headers={"Content-Disposition": f'attachment; filename="{file.name}"'},
    )


def _invoice_file(order: Order) -> Attachment:
    return Attachment(f"{order.number}.pdf", render(describe_invoice(order)), "application/pdf")
