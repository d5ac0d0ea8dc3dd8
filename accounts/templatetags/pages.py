"""Small pieces for every page; a builtin of all templates."""

from datetime import datetime
from fnmatch import fnmatch
from typing import Any

from django import template
from django.contrib.humanize.templatetags.humanize import naturaltime
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timeuntil

from accounts.authentication.browsers import describe
from accounts.authentication.second_factor.factors import has_second_factor
from accounts.models import User
from accounts.names import in_email, quoted_name
from accounts.roles import TeamPermission

register = template.Library()
register.filter(in_email)
register.filter(quoted_name)

ICONS = "vendor/lucide/icons.svg"


@register.simple_tag
def icon(name: str) -> SafeString:
    """Decoration: the word beside it says what it means."""
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>', static(ICONS), name
    )


@register.simple_tag
def ago(moment: datetime | None, never: str = "never") -> SafeString:
    """Relative, with the exact time (UTC) on hover."""
    if moment is None:
        return format_html("{}", never)
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.isoformat(timespec="seconds"),
        f"{moment:%d %b %Y, %H:%M:%S} UTC",
        naturaltime(moment),
    )


@register.simple_tag
def until(moment: datetime) -> SafeString:
    """When it ends: “in 6 days”, with the exact time (UTC) on hover."""
    return format_html(
        '<time datetime="{}" title="{}">in {}</time>',
        moment.isoformat(timespec="seconds"),
        f"{moment:%d %b %Y, %H:%M:%S} UTC",
        timeuntil(moment, depth=1),
    )


@register.filter
def ticks(text: str) -> SafeString:
    """What stands between `backticks` is code."""
    parts = text.split("`")
    pieces = [("code" if number % 2 else "span", part) for number, part in enumerate(parts)]
    return format_html_join("", "<{0}>{1}</{0}>", pieces)


@register.filter(name="has_second_factor")
def user_has_second_factor(user: User) -> bool:
    return has_second_factor(user)


@register.filter
def split(text: str) -> list[str]:
    return text.split()


@register.filter
def browser(user_agent: str) -> str:
    return describe(user_agent)


@register.simple_tag(takes_context=True)
def may(context: dict[str, Any], act: str) -> bool:
    """`{% may "manage_team" as may_manage %}`: what the role here allows."""
    membership = getattr(context.get("request"), "membership", None)
    return membership is not None and membership.may(TeamPermission(act))


@register.simple_tag(takes_context=True)
def current(context: dict[str, Any], *patterns: str) -> str:
    """Marks the navigation's link to the page one is on: `{% current "accounts:*-member" %}`."""
    match = getattr(context.get("request"), "resolver_match", None)
    here = match is not None and any(fnmatch(match.view_name, pattern) for pattern in patterns)
    return mark_safe(' aria-current="page"') if here else ""
