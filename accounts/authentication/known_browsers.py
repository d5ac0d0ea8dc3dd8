"""Recognize the browsers in which a user has signed in before.

Without this, a stranger who tries wrong passwords for an address keeps its owner out: a server has
no other way to tell the two apart. The cookie follows OWASP's "device cookies": it is
signed, bound to the address that signed in, and replaced at each sign-in. Each cookie has its own
number of attempts, so that a stolen one is worth a few guesses and no more.
"""

import time
from typing import NamedTuple

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import get_random_string, salted_hmac

from accounts.models import User

_SALT = "accounts.known_browser"
# People who share a browser, or one person with several accounts. The oldest makes room.
MOST_USERS = 4


class _Entry(NamedTuple):
    # A keyed hash: the cookie names no address.
    user: str
    id: str
    signed_in_at: int


def browser_id(request: HttpRequest, email: str) -> str | None:
    """Return the id of this browser if the user of this address has signed in here before."""
    user = _hash_of(email)
    return next((entry.id for entry in _entries(request) if entry.user == user), None)


def is_known_browser(request: HttpRequest) -> bool:
    """Return whether any user has signed in here before."""
    return bool(_entries(request))


def remember_browser(request: HttpRequest, response: HttpResponse, user: User) -> None:
    """Set the cookie after a sign-in, with a new id for this user."""
    ours = _Entry(_hash_of(user.email), get_random_string(22), int(time.time()))
    others = [entry for entry in _entries(request) if entry.user != ours.user]
    response.set_cookie(
        settings.KNOWN_BROWSER_COOKIE_NAME,
        signing.dumps([ours, *others][:MOST_USERS], salt=_SALT),
        max_age=settings.KNOWN_BROWSER_COOKIE_AGE,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _entries(request: HttpRequest) -> list[_Entry]:
    """Return what the cookie says, without what is too old; nothing if it was not signed by us."""
    cookie = request.COOKIES.get(settings.KNOWN_BROWSER_COOKIE_NAME, "")
    oldest = time.time() - settings.KNOWN_BROWSER_COOKIE_AGE
    try:
        found = [_Entry(*entry) for entry in signing.loads(cookie, salt=_SALT)]
    except signing.BadSignature:
        return []
    return [entry for entry in found if entry.signed_in_at > oldest]


def _hash_of(email: str) -> str:
    return salted_hmac(_SALT, email.strip().lower(), algorithm="sha256").hexdigest()[:32]
