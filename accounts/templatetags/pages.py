from datetime import date, datetime
from fnmatch import fnmatch
from typing import Any

from django import template
from django.conf import settings
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.template import defaultfilters
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timeuntil

from accounts.audit.queries import suspension_reason
from accounts.authentication.browsers import describe_browser
from accounts.authentication.providers.connections import provider_names
from accounts.authentication.second_factor.factors import has_second_factor
from accounts.date_display import PATTERNS, DateFormat, current_zone, date_format, exact_time
from accounts.names import format_for_email, quoted_name
from accounts.roles import TeamPermission

register = template.Library()
register.filter("in_email", format_for_email)
register.filter(quoted_name)
register.filter("browser", describe_browser)
register.filter(has_second_factor)
register.filter(exact_time)
register.simple_tag(suspension_reason)
register.simple_tag(provider_names)
register.simple_tag(lambda: settings.PRODUCT_NAME, name="product_name")
register.simple_tag(lambda: settings.BRAND_MARK_URL, name="brand_mark")

ICONS = "vendor/lucide/icons.svg"


@register.simple_tag
def icon(name: str) -> SafeString:
    """Screen readers skip icons, so add a text."""
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>', static(ICONS), name
    )


@register.simple_tag
def ago(moment: datetime | None, never: str = "never") -> SafeString:
    """Show “3 hours ago”, with the time on hover."""
    if moment is None:
        return format_html("{}", never)
    text = naturaltime(moment)
    return _time_element(moment, "just now" if text == "now" else text)


@register.simple_tag
def until(moment: datetime) -> SafeString:
    return _time_element(moment, f"in {timeuntil(moment, depth=1)}")


def _time_element(moment: datetime, text: str) -> SafeString:
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.isoformat(timespec="seconds"),
        exact_time(moment),
        text,
    )


@register.filter(name="date")
def show_date(value: date | datetime | None, name: str | None = None) -> str:
    """Replace Django's filter, so that named formats are the user's."""
    name = name or "DATE_FORMAT"
    if not isinstance(value, date) or name not in PATTERNS[DateFormat.DAY_FIRST]:
        return str(defaultfilters.date(value, name))
    return date_format(value, name)


@register.simple_tag
def time_zone() -> str:
    return str(current_zone()).replace("_", " ")


@register.filter
def ticks(text: str) -> SafeString:
    parts = text.split("`")
    elements = [("code" if index % 2 else "span", part) for index, part in enumerate(parts)]
    return format_html_join("", "<{0}>{1}</{0}>", elements)


@register.filter
def message_icon(level: str) -> str:
    return {"success": "circle-check", "info": "info"}.get(level, "triangle-alert")


@register.filter
def message_role(level: str) -> str:
    """Errors interrupt screen readers."""
    return "alert" if level == "error" else "status"


@register.filter
def split(text: str) -> list[str]:
    return text.split()


@register.simple_tag(takes_context=True)
def may(context: dict[str, Any], permission: str) -> bool:
    """Check a permission: `{% may "manage_team" as may_manage %}`."""
    request = context.get("request")
    membership = getattr(request, "membership", None)
    if getattr(request, "must_add_factor", False):
        return False
    return membership is not None and membership.has_permission(TeamPermission(permission))


@register.simple_tag(takes_context=True)
def current(context: dict[str, Any], *patterns: str) -> str:
    """Mark the current page's link: `{% current "accounts:*-member" %}`."""
    match = getattr(context.get("request"), "resolver_match", None)
    view = match.view_name if match is not None else ""
    is_current = match is not None and any(fnmatch(view, pattern) for pattern in patterns)
    return mark_safe(' aria-current="page"') if is_current else ""
