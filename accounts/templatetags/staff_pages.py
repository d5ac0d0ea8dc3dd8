from datetime import date, datetime
from typing import TYPE_CHECKING

from django import template
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString

from accounts.templatetags.pages import ago

if TYPE_CHECKING:
    from accounts.staff.panels import Cell

register = template.Library()


@register.filter
def cell_html(cell: "Cell") -> SafeString:
    html = _value_html(cell)
    if cell.tone:
        html = format_html('<span class="staff-tone staff-tone-{}">{}</span>', cell.tone, html)
    return format_html('<a href="{}">{}</a>', cell.url, html) if cell.url else html


@register.filter
def cell_class(cell: "Cell") -> str:
    if cell.is_right_aligned:
        return "staff-number"
    if not cell.is_text:
        return "staff-moment"
    return "staff-text staff-text-long" if cell.is_long else "staff-text"


def _value_html(cell: "Cell") -> SafeString:
    match cell.value:
        case None:
            return format_html('<span aria-label="none">{}</span>', "\N{EN DASH}")
        case int():
            return format_html("{}", f"{cell.value:,}")
        case datetime():
            return ago(cell.value)
        case date():
            return format_html("{}", date_format(cell.value))
    return format_html("<bdi>{}</bdi>", cell.value)
