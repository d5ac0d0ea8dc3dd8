"""allauth's pages. Those that change something do all of it or nothing, the audit entry included.

Not those where a password is hashed, which is slow, and which no other writer of SQLite should wait
for: a new password and its entry are saved together by accounts/authentication/failed_attempts.py.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from allauth.urls import urlpatterns as theirs
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import URLPattern, URLResolver

from accounts.authentication.known_browsers import remember_browser
from accounts.authentication.second_factor.proof import factor_required
from accounts.request import SiteRequest

View = Callable[..., HttpResponseBase]

WHOLE = {
    "account_email",
    "account_email_verification_sent",
    "mfa_activate_totp",
    "mfa_deactivate_totp",
    "mfa_generate_recovery_codes",
    "mfa_add_webauthn",
    "mfa_edit_webauthn",
    "mfa_remove_webauthn",
}
# Asked for again before these, where the user has a second factor. A recovery code opens those that
# replace a lost factor, and not those that show the other codes.
SENSITIVE = {
    "account_email": True,
    "account_change_password": True,
    "account_set_password": True,
    "mfa_activate_totp": True,
    "mfa_deactivate_totp": True,
    "mfa_add_webauthn": True,
    "mfa_edit_webauthn": True,
    "mfa_remove_webauthn": True,
    "mfa_view_recovery_codes": False,
    "mfa_download_recovery_codes": False,
    "mfa_generate_recovery_codes": False,
}


def _whole(view: View) -> View:
    @wraps(view)
    def looked_at_or_whole(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method != "POST":
            return view(request, *args, **kwargs)
        with transaction.atomic():
            return view(request, *args, **kwargs)

    return looked_at_or_whole


def _remembering_browser(view: View) -> View:
    """A reset link proves who the user is, as a sign-in does: wrong passwords that strangers try
    must not keep them from signing in with the new one."""

    @wraps(view)
    def with_cookie(request: SiteRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = cast(HttpResponse, view(request, *args, **kwargs))
        user = getattr(request, "has_reset_password", None)
        if user is not None:
            remember_browser(request, response, user)
        return response

    return cast(View, with_cookie)


def _with_whole_acts(patterns: list[URLPattern | URLResolver]) -> list[URLPattern | URLResolver]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            _with_whole_acts(pattern.url_patterns)
            continue
        if pattern.name in WHOLE:
            pattern.callback = _whole(pattern.callback)
        if pattern.name == "account_reset_password_from_key":
            pattern.callback = _remembering_browser(pattern.callback)
        if pattern.name in SENSITIVE:
            ask = factor_required(recovery_codes=SENSITIVE[pattern.name])
            pattern.callback = ask(pattern.callback)
    return patterns


urlpatterns = _with_whole_acts(theirs)
