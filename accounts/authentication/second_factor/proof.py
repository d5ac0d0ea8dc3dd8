"""Users with a second factor must have used it within ACCOUNT_REAUTHENTICATION_TIMEOUT.

For others, see accounts/authentication/adapter.py.
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
from accounts.request import SignedInRequest

View = Callable[..., HttpResponseBase]


# Methods in allauth's records. Ours: a factor was added in this session.
USED, ADDED = "mfa", "factor_added"
NO_RECOVERY_CODES = "Use your authenticator app or a passkey. A recovery code can't open this page."
SEND_AGAIN = "Nothing was changed. Confirm that it's you, then submit the form again."


def has_used_factor(request: HttpRequest) -> bool:
    """Return whether the session used a factor that still exists."""
    user = cast(User, request.user)
    return has_second_factor(user) and bool(_records(request, user, USED))


def has_recent_proof(request: SignedInRequest, *, recovery_codes: bool = True) -> bool:
    """Return whether this session used or added a factor recently."""
    now, kinds = time.time(), {*FACTORS}
    if recovery_codes:
        kinds.add(Authenticator.Type.RECOVERY_CODES)
    return any(
        record["type"] in kinds
        and abs(now - record["at"]) < settings.ACCOUNT_REAUTHENTICATION_TIMEOUT
        for record in _records(request, request.user, USED, ADDED)
    )


def record_factor_added(request: HttpRequest, authenticator: Authenticator) -> None:
    """Count adding a factor as a proof: the next page shows the recovery codes."""
    user, kind = authenticator.user, authenticator.type
    record_authentication(request, user, ADDED, id=authenticator.pk, type=kind)


def require_factor(request: SignedInRequest) -> None:
    """allauth resumes a POST after the proof."""
    if has_second_factor(request.user) and not has_recent_proof(request):
        raise ReauthenticationRequired


def factor_required(*, back_to: str = "", recovery_codes: bool = True) -> Callable[[View], View]:
    """Require a recent proof of the factor.

    A form isn't resumed, as it may contain a password: the user returns to its page (`back_to`).
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def wrapper(request: SignedInRequest, *args: object, **kwargs: object) -> HttpResponseBase:
            needs_proof = has_second_factor(request.user)
            if not needs_proof or has_recent_proof(request, recovery_codes=recovery_codes):
                return view(request, *args, **kwargs)
            is_form = request.method == "POST"
            if is_form:
                messages.info(request, SEND_AGAIN)
            if not recovery_codes:
                messages.info(request, NO_RECOVERY_CODES)
            page = reverse(back_to) if back_to and is_form else request.get_full_path()
            return redirect_to_proof(request, page)

        wrapper.requires_factor = True  # type: ignore[attr-defined]
        return wrapper

    return decorate


def redirect_to_proof(request: HttpRequest, page: str) -> HttpResponseRedirect:
    url = get_adapter(request).get_reauthentication_methods(request.user)[0]["url"]
    return HttpResponseRedirect(f"{url}?{urlencode({REDIRECT_FIELD_NAME: page})}")


def _records(request: HttpRequest, user: User, *methods: str) -> list[dict[str, Any]]:
    records = get_authentication_records(request, user)
    found = [record for record in records if record["method"] in methods]
    if not found:
        return []
    existing = set(Authenticator.objects.filter(user=user).values_list("pk", flat=True))
    return [record for record in found if record["id"] in existing]
