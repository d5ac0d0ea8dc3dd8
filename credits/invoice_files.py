"""Invoices as PDF files: to download, and attached to emails."""

import logging

from django.http import HttpResponse

from accounts.date_display import DEFAULT_DISPLAY, use_date_display
from accounts.request import AccountRequest
from accounts.staff.request import StaffRequest
from apikeys.throttling import limits
from credits.invoices.rendering import RendererBusy, RenderingFailed, render
from credits.models import Order
from credits.presenters.invoice import describe_invoice
from runtime.database.pool import release_connection
from runtime.mail.attachments import Attachment, AttachmentDelayed

logger = logging.getLogger(__name__)

# Drawing a file takes more CPU time than any other page.
DOWNLOADS_PER_MINUTE = 20


class FileUnavailable(Exception):
    """Raised with what to say to the user."""


def attached_invoice(*, reference: str) -> Attachment:
    """Return the invoice of the order with this id. A hook."""
    order = Order.objects.get(public_id=reference)
    try:
        with use_date_display(DEFAULT_DISPLAY):
            return _invoice_file(order)
    except RenderingFailed as error:
        raise AttachmentDelayed(f"The invoice of {reference} was not rendered: {error}") from None


def invoice_response(request: AccountRequest | StaffRequest, order: Order) -> HttpResponse:
    """Return the invoice as a file to save, or raise FileUnavailable."""
    file = _download(request, order)
    return HttpResponse(
        file.content,
        content_type=file.content_type,
        headers={"Content-Disposition": f'attachment; filename="{file.name}"'},
    )


def _download(request: AccountRequest | StaffRequest, order: Order) -> Attachment:
    subject = str(request.user.pk)
    bucket = limits.Bucket("invoice_files", subject, subject, DOWNLOADS_PER_MINUTE)
    if limits.consume(request, bucket).refused:
        raise FileUnavailable("You've downloaded many invoices. Wait a minute and try again.")
    try:
        return _invoice_file(order)
    except RendererBusy:
        message = "Other PDF files are being created. Try again in a few seconds."
    except RenderingFailed:
        logger.exception("The invoice of %s was not rendered", order.public_id)
        message = "The PDF couldn't be created. Try again in a few minutes."
    raise FileUnavailable(message)


def _invoice_file(order: Order) -> Attachment:
    invoice = describe_invoice(order)
    release_connection()
    return Attachment(f"{order.number}.pdf", render(invoice), "application/pdf")
