"""Proof of a second factor before sensitive pages.

A password alone must not reveal recovery codes or remove the factor that protects an account. A
user who has a second factor proves it within ACCOUNT_REAUTHENTICATION_TIMEOUT, by signing in with
it or by using it again. Users without one are asked as before: accounts/authentication/adapter.py.
"""

import time
from collections.abc import Callable
from functools import wraps
from typing import Any, cast
from urllib.parse import urlencode

from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.login import get_authentication_records, record_authentication
from allauth.core.exceptions import ReauthenticationRequired
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse

from accounts.authentication.second_factor.factors import FACTORS, has_second_factor
from accounts.models import User

View = Callable[..., HttpResponseBase]

# allauth's records of a session: a factor was used, and (ours) it was added in this session.
USED, ADDED = "mfa", "factor_added"
NO_RECOVERY_CODES = "Use your authenticator app or a passkey. A recovery code can't open this page."
SEND_AGAIN = "Confirm that it's you, then send the form again. Nothing was changed."


def is_verified(request: HttpRequest) -> bool:
    """Return whether this session used a second factor that the user still has.

    That the user has one says nothing about a session that began before it was added.
    """
    user = cast(User, request.user)
    return has_second_factor(user) and bool(_records(request, user, USED))


def is_recent(request: HttpRequest, *, recovery_codes: bool = True) -> bool:
    """Return whether this session used or added a factor within the timeout."""
    now, kinds = time.time(), {*FACTORS}
    if recovery_codes:
        kinds.add(Authenticator.Type.RECOVERY_CODES)
    return any(
        record["type"] in kinds
        and abs(now - record["at"]) < settings.ACCOUNT_REAUTHENTICATION_TIMEOUT
        for record in _records(request, cast(User, request.user), USED, ADDED)
    )


def record_added(request: HttpRequest, authenticator: Authenticator) -> None:
    """Count adding a factor as its proof: the page that follows shows the recovery codes."""
    user, kind = authenticator.user, authenticator.type
    record_authentication(request, user, ADDED, id=authenticator.pk, type=kind)


def require_factor(request: HttpRequest) -> None:
    """Ask for the factor in the middle of a view. allauth resumes the POST after the proof."""
    if has_second_factor(cast(User, request.user)) and not is_recent(request):
        raise ReauthenticationRequired


def factor_required(*, back_to: str = "", recovery_codes: bool = True) -> Callable[[View], View]:
    """Ask for the factor before the view, when its page is opened.

    A form that is sent too late isn't resumed, because it may hold a password: the user confirms,
    and finds the page with the form (`back_to`, or the view's own).
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def asks(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            user = cast(User, request.user)
            if not has_second_factor(user) or is_recent(request, recovery_codes=recovery_codes):
                return view(request, *args, **kwargs)
            is_form = request.method == "POST"
            if is_form:
                messages.info(request, SEND_AGAIN)
            if not recovery_codes:
                messages.info(request, NO_RECOVERY_CODES)
            page = reverse(back_to) if back_to and is_form else request.get_full_path()
            return redirect_to_proof(request, page)

        asks.asks_for_factor = True  # type: ignore[attr-defined]
        return asks

    return decorate


def redirect_to_proof(request: HttpRequest, page: str) -> HttpResponseRedirect:
    """Redirect to the form that asks for a factor, which leads on to `page`."""
    where = get_adapter(request).get_reauthentication_methods(request.user)[0]["url"]
    return HttpResponseRedirect(f"{where}?{urlencode({REDIRECT_FIELD_NAME: page})}")


def _records(request: HttpRequest, user: User, *methods: str) -> list[dict[str, Any]]:
    """Return what the session proved with authenticators that were not removed since."""
    records = get_authentication_records(request, user)
    proved = [record for record in records if record["method"] in methods]
    if not proved:
        return []
    present = set(Authenticator.objects.filter(user=user).values_list("pk", flat=True))
    return [record for record in proved if record["id"] in present]
