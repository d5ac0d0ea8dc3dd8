import sqlite3
import sys

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.urls import reverse

from accounts.request import SiteRequest
from config.server.form_limits import max_form_bytes
from runtime.database.account_slots import AccountBusy
from runtime.database.pool import connect_for_account
from runtime.database.raw_sql import UNAVAILABLE
from runtime.http.request import Middleware

# A restart or failover takes seconds.
RETRY_AFTER = 5


class LargeFormMiddleware(Middleware):
    def __call__(self, request: HttpRequest) -> HttpResponse:
        if int(request.META.get("CONTENT_LENGTH") or 0) > max_form_bytes(request.path):
            raise RequestDataTooBig
        return self.get_response(request)


class AccountSlotsMiddleware(Middleware):
    """Limit an account's pages to its share of the database connections."""

    def __call__(self, request: SiteRequest) -> HttpResponse:
        try:
            if request.account is not None:
                connect_for_account(request.account.pk)
        except AccountBusy:
            request.refusal = "account_busy"
            page = _unavailable(request)
            # Django would log it as an error.
            page._has_been_logged = True  # type: ignore[attr-defined]
            return page
        return self.get_response(request)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    if isinstance(exception, RequestDataTooBig):
        title = "This form is too large"
        advice = "Go back, shorten what you entered, and send the form again."
        if request.path == reverse("lists:create-list"):
            title = "This file is too large for one upload"
            advice = (
                "Turn on JavaScript and choose the file again, so that your browser uploads it in "
                "parts. You can also split it into files of up to 8 MB, or upload it in parts "
                "through the API."
            )
        return _render_error(request, 413, title, f"Nothing was saved. {advice}")
    return _render_error(
        request,
        400,
        "We couldn't read this request",
        "Your browser sent something we don't understand. Go back and try again.",
    )


def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    sentence = str(exception or "") or "You don't have access to this page."
    return _render_error(request, 403, "Access denied", sentence)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    request.refusal = "csrf_failed"  # type: ignore[attr-defined]
    sentence = (
        "It was open too long, or your browser blocks cookies, and nothing was changed. "
        "Go back, copy what you entered, reload the page, and send the form again."
    )
    return _render_error(request, 403, "This form has expired", sentence)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    sentence = (
        "Check the address for typos. The page may also have been removed, or belong to another "
        "account."
    )
    return _render_error(request, 404, "Page not found", sentence)


def too_many_attempts(request: HttpRequest) -> HttpResponse:
    sentence = (
        "We limit attempts on this page to protect accounts. Wait five minutes and try again."
    )
    return _render_error(request, 429, "Too many attempts", sentence)


def server_error(request: HttpRequest) -> HttpResponse:
    # Django calls this inside `except`. sqlite3's error comes from runtime/cache/sqlite.py.
    if isinstance(sys.exc_info()[1], (*UNAVAILABLE, sqlite3.OperationalError)):
        return _unavailable(request)
    sentence = "The error is on our side, and our logs have the details. Try again in a minute."
    return _render_error(request, 500, "Something went wrong", sentence)


def _unavailable(request: HttpRequest) -> HttpResponse:
    page = _render_error(
        request,
        503,
        "Temporarily unavailable",
        "Wait a few seconds, then reload this page. If you sent a form, check whether it was saved "
        "before you send it again.",
    )
    page["Retry-After"] = str(RETRY_AFTER)
    return page


def _render_error(request: HttpRequest, status: int, title: str, sentence: str) -> HttpResponse:
    context: dict[str, object] = {
        "is_error_page": True,
        "status": status,
        "title": title,
        "sentence": sentence,
        "request_id": getattr(request, "id", ""),
        "support_email": settings.SUPPORT_EMAIL,
    }
    # Set by CurrentAccountMiddleware.
    if user := getattr(request, "signed_in_user", None):
        context |= {"request": request, "user": user, "csrf_token": get_token(request)}
    return HttpResponse(render_to_string("error.html", context), status=status)
