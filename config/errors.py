"""Error pages. They work without the database, which may be what failed."""

import sqlite3
import sys
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from runtime.database.raw_sql import UNAVAILABLE

# A database restart or failover takes seconds.
RETRY_AFTER = 5


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _render_error(
        request,
        400,
        "This request cannot be read",
        "Your browser sent something we do not understand. Go back and try again.",
    )


def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _render_error(
        request,
        403,
        "You may not do this",
        str(exception or "") or "This page is not open to you.",
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    # For the access log.
    request.refusal = "csrf_failed"  # type: ignore[attr-defined]
    return _render_error(
        request,
        403,
        "This form has expired",
        "It was open for too long, or cookies are blocked. Go back, reload the page and send the "
        "form again. Nothing was changed.",
    )


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _render_error(
        request,
        404,
        "There is no such page",
        "The address may be mistyped, or what was here is gone or belongs to another account.",
    )


def server_error(request: HttpRequest) -> HttpResponse:
    # Django calls this inside `except`. runtime/cache/sqlite.py raises sqlite3's error when the
    # disk is full.
    if isinstance(sys.exc_info()[1], (*UNAVAILABLE, sqlite3.OperationalError)):
        return _unavailable(request)
    return _render_error(
        request,
        500,
        "Something broke on our side",
        "It is noted in our logs. Try again in a minute; nothing was done twice.",
    )


def _unavailable(request: HttpRequest) -> HttpResponse:
    page = _render_error(
        request,
        503,
        "We cannot answer at the moment",
        "A part of our service is away. Wait some seconds, then load this page again. If you had "
        "just sent a form, look whether it was done before you send it once more.",
    )
    page["Retry-After"] = str(RETRY_AFTER)
    return page


def _render_error(request: HttpRequest, status: int, title: str, sentence: str) -> HttpResponse:
    context: dict[str, Any] = {
        "status": status,
        "title": title,
        "sentence": sentence,
        "request_id": getattr(request, "id", ""),
        # Set by the middleware, unless the request failed before that. Needs no query here.
        "signed_in": bool(getattr(request, "account", None)),
        "support_email": settings.SUPPORT_EMAIL,
    }
    return HttpResponse(render_to_string("error.html", context), status=status)
