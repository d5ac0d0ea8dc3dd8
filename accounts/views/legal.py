from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from accounts.permissions import redirect_get_to
from accounts.request import SignedInRequest
from accounts.services import agree_to_terms
from runtime.http.public_pages import public_page

DAY = 24 * 3600


@public_page
def show_legal_page(request: HttpRequest, template: str) -> HttpResponse:
    context = {
        "version": settings.TERMS_VERSION,
        "to_fill_in": settings.MISSING_LEGAL_SETTINGS,
        "subprocessors": settings.SUBPROCESSORS,
        "takes_cards": bool(settings.STRIPE_SECRET_KEY),
        "checks_mailboxes": settings.PROBE_MAILBOX_CHECKS,
        "log_days": settings.LOG_RETENTION_DAYS,
        "result_hours": settings.RESULT_RETENTION_HOURS,
        "list_days": settings.LIST_RETENTION_DAYS,
        "session_days": settings.SESSION_COOKIE_AGE // DAY,
        "mail_days": settings.MAIL_RETENTION_DAYS,
        "invitation_days": settings.INVITATION_DAYS,
        "unconfirmed_days": settings.UNCONFIRMED_SIGN_UP_DAYS,
        "closed_days": settings.CLOSED_ACCOUNT_DAYS,
    }
    return render(request, f"accounts/legal/{template}.html", context)


@redirect_get_to("accounts:show-terms")
def agree_to_newer_terms(request: SignedInRequest) -> HttpResponse:
    agree_to_terms(user=request.user, account=request.account)
    messages.success(request, "Thanks. Your agreement to the terms was recorded.")
    return redirect("validation:show-overview" if request.account else "accounts:edit-profile")
