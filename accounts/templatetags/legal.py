"""Insert the operator's details into the legal pages."""

from django import template
from django.conf import settings
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

PLACEHOLDERS = {
    "SELLER_NAME": "name of the company",
    "SELLER_ADDRESS": "its address",
    "SELLER_TAX_ID": "its tax number",
    "GOVERNING_LAW": "the law and the courts",
    "HOSTING": "who hosts the servers, and where",
    "SUBPROCESSORS": "who processes data for us, what for, and where",
}


@register.simple_tag
def filled(name: str) -> SafeString:
    """Return the value of a setting, or a highlighted placeholder if it is missing."""
    if name in settings.MISSING_LEGAL_SETTINGS:
        return format_html("<mark>[{}: {}]</mark>", PLACEHOLDERS[name], name)
    return format_html("{}", getattr(settings, name))
