import re
from collections.abc import Sequence
from typing import Any

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from runtime.mail.rendering import TEXT_LAYOUT, EmailRow, format_rows, wrap_paragraphs

register = template.Library()

_LINE_BREAK = re.compile(r"\s*\n\s*")


@register.filter
def one_line(text: str) -> str:
    """Join lines, as every line break is visible in an email."""
    return _LINE_BREAK.sub(" ", text.strip())


@register.filter(is_safe=True)
def email_paragraphs(html: str) -> SafeString:
    return wrap_paragraphs(html)


@register.simple_tag(takes_context=True)
def email_button(context: dict[str, Any], url: str, label: str) -> str:
    return _render(context, "button", f"{label}:\n{url}", url=url, label=label)


@register.simple_tag(takes_context=True)
def email_link(context: dict[str, Any], url: str, label: str) -> str:
    return _render(context, "link", f"{label}:\n{url}", url=url, label=label)


@register.simple_tag(takes_context=True)
def email_table(context: dict[str, Any], rows: Sequence[EmailRow]) -> str:
    return _render(context, "table", format_rows(rows), rows=rows)


@register.simple_tag(takes_context=True)
def email_code(context: dict[str, Any], code: str) -> str:
    return _render(context, "code", code, code=code)


def _render(context: dict[str, Any], part: str, text: str, **values: object) -> str:
    if context["email_layout"] == TEXT_LAYOUT:
        return mark_safe(text)  # noqa: S308 - the text part isn't escaped
    html = render_to_string(f"mails/{part}.html", values)
    return mark_safe(re.sub(r"\n\s*", "\n", html).strip())  # noqa: S308 - of our own template
