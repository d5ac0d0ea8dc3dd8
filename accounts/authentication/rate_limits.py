"""Decide how often a password may be tried and a password reset may be asked for.

allauth counts, at the rates in config/settings/sign_in.py. This module chooses whose attempts are
counted together:

- a browser that has signed in before has its own attempts, which no stranger can use up;
- all other browsers share the attempts of an address they try, and those of their network address.
"""

from typing import TypeAlias, cast

from allauth.core.internal import ratelimit
from django.http import HttpRequest

from accounts.authentication.known_browsers import browser_id
from accounts.models import User

Usage: TypeAlias = ratelimit.RateLimitUsage


def count_sign_in(request: HttpRequest, email: str) -> Usage | None:
    """Count an attempt until it turns out to be right; None if there were too many."""
    own = _own_bucket(request, email)
    if own:
        # Right ones count as well: they wait for no stranger, so they have to be few.
        is_usual = _count(request, "login_known", email.lower()) is not None
        return _count(request, "login_failed", own) if is_usual else None
    usage = _count(request, "login_failed_address", email.lower())
    if usage is None:
        return None
    at_address = _count(request, "login_failed", email.lower())
    if at_address is None:
        usage.rollback()
        return None
    return Usage([*usage.usage, *at_address.usage])


def may_send_reset(request: HttpRequest, email: str) -> bool:
    """Whether another email may be sent. The page is the same either way."""
    own = _own_bucket(request, email)
    if own:
        return _count(request, "reset_email", own) is not None
    from_network = _count(request, "reset_email_address", email.lower())
    return from_network is not None and _count(request, "reset_email", email.lower()) is not None


def is_known(request: HttpRequest, email: str) -> bool:
    """Whether this user has signed in with this browser before, or is signed in now."""
    return _own_bucket(request, email) is not None


def _own_bucket(request: HttpRequest, email: str) -> str | None:
    user = getattr(request, "user", None)
    if user is not None and user.is_authenticated and user.email == email.lower():
        return f"user:{cast(User, user).pk}"
    known = browser_id(request, email)
    return f"browser:{known}" if known else None


def _count(request: HttpRequest, action: str, key: str) -> Usage | None:
    usage: Usage | None = ratelimit.consume(request, app="allauth.account", action=action, key=key)
    return usage
