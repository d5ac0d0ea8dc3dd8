"""Recognize users' browsers, or strangers who try wrong passwords would lock owners out.

As in OWASP's "device cookies", the cookie is signed, bound to an address, and replaced at each
sign-in. Each has a limit of attempts, so a stolen one allows only a few guesses.
"""

import time
from typing import NamedTuple

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import get_random_string, salted_hmac

from accounts.models import User

_SALT = "accounts.known_browser"
# Per cookie, as people share browsers or have several accounts.
MAX_USERS = 4


class _Entry(NamedTuple):
    # A keyed hash, so that the cookie doesn't reveal the address.
    user: str
    id: str
    signed_in_at: int


def browser_id(request: HttpRequest, email: str) -> str | None:
    """Return this browser's id if this user has signed in here before."""
    user = _hash_email(email)
    return next((entry.id for entry in _entries(request) if entry.user == user), None)


def remember_browser(request: HttpRequest, response: HttpResponse, user: User) -> None:
    entry = _Entry(_hash_email(user.email), get_random_string(22), int(time.time()))
    others = [other for other in _entries(request) if other.user != entry.user]
    response.set_cookie(
        settings.KNOWN_BROWSER_COOKIE_NAME,
        signing.dumps([entry, *others][:MAX_USERS], salt=_SALT),
        max_age=settings.KNOWN_BROWSER_COOKIE_AGE,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _entries(request: HttpRequest) -> list[_Entry]:
    cookie = request.COOKIES.get(settings.KNOWN_BROWSER_COOKIE_NAME, "")
    oldest = time.time() - settings.KNOWN_BROWSER_COOKIE_AGE
    try:
        entries = [_Entry(*entry) for entry in signing.loads(cookie, salt=_SALT)]
    except signing.BadSignature:
        return []
    return [entry for entry in entries if entry.signed_in_at > oldest]


def _hash_email(email: str) -> str:
    return salted_hmac(_SALT, email.strip().lower(), algorithm="sha256").hexdigest()[:32]
