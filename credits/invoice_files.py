"""Invoices as PDF files, drawn by the background worker."""

import logging
from collections.abc import Callable

from django.db import Error as DatabaseError
from django.http import HttpResponse
from django.utils import timezone

from accounts.date_display import DEFAULT_DISPLAY, use_date_display
from credits.models import InvoiceFile, Order
from credits.models.invoice_files import RETRY_AFTER
from credits.presenters.invoice import describe_invoice
from runtime.mail.attachments import Attachment

logger = logging.getLogger(__name__)

NOT_DRAWN = "The PDF will be ready in a moment. Try again then."
PDF = "application/pdf"


def draw_invoices(*, is_stopping: Callable[[], bool]) -> None:
    while not is_stopping():
        file = InvoiceFile.objects.claim()
        if file is None:
            break
        try:
            content = _draw(file.order)
        except DatabaseError:
            raise
        except Exception:
            logger.exception("Failed to draw the invoice of %s", file.order.public_id)
            file.release(next_attempt_at=timezone.now() + RETRY_AFTER)
        else:
            file.release(content=content, attempts=0)


def attached_invoice(*, reference: str) -> Attachment:
    order = Order.objects.get(public_id=reference)
    # The email doesn't wait for the file.
    return Attachment(f"{order.number}.pdf", _stored_content(order) or _draw(order), PDF)


def invoice_response(order: Order) -> HttpResponse | None:
    content = _stored_content(order)
    if content is None:
        return None
    name = f'attachment; filename="{order.number}.pdf"'
    return HttpResponse(content, content_type=PDF, headers={"Content-Disposition": name})


def _stored_content(order: Order) -> bytes | None:
    contents = InvoiceFile.objects.filter(order=order).values_list("content", flat=True)
    content = contents.first()
    return None if content is None else bytes(content)


def _draw(order: Order) -> bytes:
    # fpdf2 is large, and web workers don't need it.
    from credits.invoices.drawing import draw

    with use_date_display(DEFAULT_DISPLAY):
        return draw(describe_invoice(order))
