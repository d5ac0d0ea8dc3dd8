"""Format the text of emails."""

import re

from django import template

register = template.Library()

_LINE_BREAK = re.compile(r"\s*\n\s*")


@register.filter
def one_line(text: str) -> str:
    """Join the lines of a paragraph: `{% filter one_line %}` … `{% endfilter %}`.

    Templates break long lines, but in an email every line break is visible.
    """
    return _LINE_BREAK.sub(" ", text.strip())
