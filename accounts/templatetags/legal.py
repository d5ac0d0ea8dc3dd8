from django import template
from django.conf import settings
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

PLACEHOLDERS = {
    "SELLER_NAME": "company name",
    "SELLER_ADDRESS": "company address",
    "SELLER_TAX_ID": "tax number",
    "GOVERNING_LAW": "governing law and courts",
    "HOSTING": "hosting provider and location",
    "SUBPROCESSORS": "each sub-processor, its purpose, and its location",
}


@register.simple_tag
def filled(name: str) -> SafeString:
    if name in settings.MISSING_LEGAL_SETTINGS:
        return format_html("<mark>[{}: {}]</mark>", PLACEHOLDERS[name], name)
    return format_html("{}", getattr(settings, name))
