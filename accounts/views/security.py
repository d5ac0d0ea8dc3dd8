"""Settings → Security: where sign-in stands, with a link to each page that changes it."""

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.access import for_account
from accounts.requests import AccountRequest
from accounts.roles import Act


@require_safe
@for_account(Act.LOOK)
def show_security(request: AccountRequest) -> HttpResponse:
    authenticators = Authenticator.objects.filter(user=request.user)
    by_type = Authenticator.Type
    codes = authenticators.filter(type=by_type.RECOVERY_CODES).first()
    context = {
        "totp": authenticators.filter(type=by_type.TOTP).first(),
        "passkeys": authenticators.filter(type=by_type.WEBAUTHN),
        "unused_codes": len(codes.wrap().get_unused_codes()) if codes else None,
        "sessions": UserSession.objects.purge_and_list(request.user),
    }
    return render(request, "accounts/show_security.html", context)


@login_not_required
@require_safe
def show_closed(request: HttpRequest) -> HttpResponse:
    return render(request, "accounts/show_closed.html")
