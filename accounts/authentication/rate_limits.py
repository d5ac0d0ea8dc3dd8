"""Known browsers have their own bucket, which strangers can't exhaust.

All others share one per email address, and one per IP address.
"""

from typing import TypeAlias, cast

from allauth.core.internal import ratelimit
from django.http import HttpRequest

from accounts.authentication.known_browsers import browser_id
from accounts.models import User

Usage: TypeAlias = ratelimit.RateLimitUsage


def count_sign_in(request: HttpRequest, email: str) -> Usage | None:
    """Return usage to roll back on success, or None at the limit."""
    own = _own_bucket(request, email)
    if own:
        # Count successful attempts too: known browsers bypass the queue for strangers.
        is_allowed = _count(request, "login_known", email.lower()) is not None
        return _count(request, "login_failed", own) if is_allowed else None
    usage = _count(request, "login_failed_address", email.lower())
    if usage is None:
        return None
    email_usage = _count(request, "login_failed", email.lower())
    if email_usage is None:
        usage.rollback()
        return None
    return Usage([*usage.usage, *email_usage.usage])


def may_send_reset(request: HttpRequest, email: str) -> bool:
    own = _own_bucket(request, email)
    if own:
        return _count(request, "reset_email", own) is not None
    network_usage = _count(request, "reset_email_address", email.lower())
    return network_usage is not None and _count(request, "reset_email", email.lower()) is not None


def is_known(request: HttpRequest, email: str) -> bool:
    """Return whether this user is signed in, or has signed in with this browser."""
    return _own_bucket(request, email) is not None


def _own_bucket(request: HttpRequest, email: str) -> str | None:
    user = getattr(request, "user", None)
    if user is not None and user.is_authenticated and user.email == email.lower():
        return f"user:{cast(User, user).pk}"
    browser = browser_id(request, email)
    return f"browser:{browser}" if browser else None


def _count(request: HttpRequest, action: str, key: str) -> Usage | None:
    usage: Usage | None = ratelimit.consume(request, app="allauth.account", action=action, key=key)
    return usage
