import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from runtime.unicode import show_invisible, show_invisible_in_html

TEXT_LAYOUT, HTML_LAYOUT = "mails/as_text.txt", "mails/as_html.html"
_BLANK_LINES = re.compile(r"\n\s*\n")
_URL = re.compile(r"https?://\S+")
_URL_STYLE = "color:#4a42d8;word-break:break-all"


class EmailRow(NamedTuple):
    label: str
    value: str
    style: Literal["words", "amount", "total"] = "words"


class RenderedEmail(NamedTuple):
    subject: str
    text: str
    html: str


def render_email(template: str, context: dict[str, Any]) -> RenderedEmail:
    subject = show_invisible(render_to_string(f"{template}_subject.txt", context)).strip()
    context = {**context, "subject": subject}
    text = _render(template, context, TEXT_LAYOUT)
    html = _render(template, context, HTML_LAYOUT)
    return RenderedEmail(
        subject,
        _BLANK_LINES.sub("\n\n", show_invisible(text)) + "\n",
        show_invisible_in_html(html) + "\n",
    )


def _render(template: str, context: dict[str, Any], layout: str) -> str:
    # Every email extends `mails/layout.txt`, which extends this.
    context = {**context, "email_layout": layout}
    return render_to_string(f"{template}_message.txt", context).strip()


def format_rows(rows: Sequence[EmailRow]) -> str:
    labels = max(len(row.label) for row in rows)
    amounts = max((len(row.value) for row in rows if row.style != "words"), default=0)
    return "\n".join(
        f"{row.label:<{labels}}  {row.value if row.style == 'words' else row.value.rjust(amounts)}"
        for row in rows
    )


def wrap_paragraphs(html: str) -> SafeString:
    parts = filter(None, (part.strip() for part in _BLANK_LINES.split(html.strip())))
    return mark_safe("\n".join(map(_paragraph, parts)))  # noqa: S308


def _paragraph(part: str) -> str:
    # Our own tag: variables are escaped.
    if part.startswith("<"):
        return part
    words = mark_safe(part.replace("\n", "<br>"))  # noqa: S308 - the template has escaped it
    if _URL.fullmatch(part):
        words = format_html(
            '<a class="email-link" href="{}" style="{}">{}</a>', words, _URL_STYLE, words
        )
    return format_html('<p style="margin:0 0 16px">{}</p>', words)
