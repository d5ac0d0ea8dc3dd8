from django import template
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from accounts.templatetags.code import highlight
from engine import Verdict
from validation.presenters import checks, code_samples, domains, mailbox_checks, requests, retention

register = template.Library()
register.filter(requests.format_duration)
register.filter(requests.outcome_notes)
register.filter(requests.time_hint)
register.filter(retention.format_days)
register.filter(checks.group_checks)
register.filter(domains.account_list_note)
register.filter("mailbox_check", mailbox_checks.describe_mailbox_check)

_ICONS = {
    Verdict.DELIVERABLE: "circle-check",
    Verdict.RISKY: "triangle-alert",
    Verdict.UNDELIVERABLE: "circle-x",
    Verdict.UNKNOWN: "circle-question-mark",
}


@register.filter
def verdict_icon(verdict: str) -> str:
    return _ICONS[Verdict(verdict)]


@register.simple_tag
def client_installation(base_url: str) -> SafeString:
    return highlight(code_samples.install_client(base_url), "curl")


@register.filter
def first_request(secret: str, base_url: str) -> SafeString:
    """Color the commands. The secret is inserted last, because `highlight` caches its results."""
    placeholder = "YOUR_KEY"
    colored = highlight(code_samples.first_request(placeholder, base_url), "curl")
    return mark_safe(colored.replace(placeholder, escape(secret)))  # noqa: S308
