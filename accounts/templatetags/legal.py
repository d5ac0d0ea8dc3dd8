"""What the operator says of themselves, in the texts of the legal pages."""

from django import template
from django.conf import settings
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

WHAT_BELONGS_THERE = {
    "SELLER_NAME": "name of the company",
    "SELLER_ADDRESS": "its address",
    "SELLER_TAX_ID": "its tax number",
    "GOVERNING_LAW": "the law and the courts",
    "HOSTING": "who hosts the servers, and where",
    "SUBPROCESSORS": "who processes data for us, what for, and where",
}


@register.simple_tag
def filled(name: str) -> SafeString:
    """Where it is missing, a mark that cannot be overlooked."""
    if name in settings.TO_FILL_IN:
        return format_html("<mark>[{}: {}]</mark>", WHAT_BELONGS_THERE[name], name)
    return format_html("{}", getattr(settings, name))
