import math
import re
import time
from collections.abc import Callable
from functools import cache

from django.conf import settings
from django.contrib.auth import logout
from django.db import connections
from django.http import HttpResponse
from django.utils.cache import patch_cache_control
from django.utils.module_loading import import_string

from accounts import ids, tracing
from accounts.answered import Answer, Desk, note, route_of
from accounts.models import Account, Membership, User
from accounts.network import client_address
from accounts.requests import SiteRequest
from accounts.text import UNSEEN_IN_BYTES, show_unseen_in_html

Handler = Callable[[SiteRequest], HttpResponse]

CURRENT_ACCOUNT = "account"
_CLIENTS_OWN_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


class IdentifyRequestMiddleware:
    """Says which request this is and whence, so that page, log line and audit entry agree."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: SiteRequest) -> HttpResponse:
        request.id = id_of_request(request.META.get("HTTP_X_REQUEST_ID", ""))
        request.ip = client_address(request.META, settings.TRUSTED_PROXIES)
        # Never reset: Django logs a crash after the last middleware has returned.
        tracing.request_id.set(request.id)
        tracing.account_id.set(tracing.NOBODY)
        request.refusal, request.is_told = "", False
        started = time.perf_counter()
        Desk.in_hand += 1
        try:
            response = self.get_response(request)
        finally:
            Desk.in_hand -= 1
        if Desk.is_open and not request.is_told:
            note(_answer(request, response, time.perf_counter() - started))
        if response.status_code < 500:
            # Django would write another record of each refusal.
            response._has_been_logged = True  # type: ignore[attr-defined]
        response["X-Request-Id"] = request.id
        response["Cross-Origin-Resource-Policy"] = "same-origin"
        return response


class PermissionsPolicyMiddleware:
    """For pages and files. Responses of the API have the header from the start."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: SiteRequest) -> HttpResponse:
        response = self.get_response(request)
        response["Permissions-Policy"] = settings.PERMISSIONS_POLICY
        return response


def id_of_request(given: str) -> str:
    """The client's, if it is well formed and no key: it goes into logs and answers."""
    if _CLIENTS_OWN_ID.fullmatch(given) and not _knows_secrets()(given):
        return given
    return ids.request_id()


@cache
def _knows_secrets() -> Callable[[str], bool]:
    knows: Callable[[str], bool] = import_string(settings.KNOWS_SECRETS)
    return knows


def _answer(request: SiteRequest, response: HttpResponse, seconds: float) -> Answer:
    account = getattr(request, "account", None)
    return Answer(
        time.time(),
        "static" if request.path_info.startswith(settings.STATIC_URL) else "page",
        request.id,
        account.public_id if account else None,
        None,
        request.ip,
        request.method or "",
        route_of(request.resolver_match),
        response.status_code,
        seconds,
        request.refusal,
    )


class EvenTimeMiddleware:
    """Answers that depend on whether an address has an account leave on an even beat.

    A stranger who measures sign-up, sign-in or reset would otherwise read from the time what the
    page takes care not to say.
    """

    VIEWS = {
        "account_signup",
        "account_login",
        "account_reset_password",
        "account_email_verification_sent",
    }

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: SiteRequest) -> HttpResponse:
        started = time.monotonic()
        response = self.get_response(request)
        match = request.resolver_match
        if request.method == "POST" and match and match.view_name in self.VIEWS:
            self._wait_for_the_beat(started)
        return response

    @staticmethod
    def _wait_for_the_beat(started: float) -> None:
        beat = settings.EVEN_TIME_SECONDS
        if not beat:
            return
        # Sleeping holds no database connection.
        for connection in connections.all(initialized_only=True):
            if not connection.in_atomic_block:
                connection.close()
        time.sleep(until_the_beat(time.monotonic() - started, beat))


def until_the_beat(elapsed: float, beat: float) -> float:
    return math.ceil(elapsed / beat) * beat - elapsed


class ShowUnseenMiddleware:
    """Whatever a page shows, no character of it hides, or turns the order of the others."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: SiteRequest) -> HttpResponse:
        response = self.get_response(request)
        is_page = response.get("Content-Type", "").startswith("text/html")
        if is_page and not response.streaming and UNSEEN_IN_BYTES.search(response.content):
            response.content = show_unseen_in_html(response.content.decode()).encode()
        return response


class CurrentAccountMiddleware:
    """Gives each request of a signed-in user the account they work in, and their role there."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: SiteRequest) -> HttpResponse:
        request.memberships = []
        request.membership = request.account = None
        was_signed_in = request.user.is_authenticated
        if request.user.is_authenticated:
            self._find_account(request, request.user)
        response = self.get_response(request)
        if was_signed_in and not request.user.is_authenticated:
            response["Clear-Site-Data"] = '"cache"'
        if request.user.is_authenticated:
            # Who comes to this browser after a sign-out must not go back to these pages.
            patch_cache_control(response, private=True, no_store=True)
        return response

    def _find_account(self, request: SiteRequest, user: User) -> None:
        memberships = list(Membership.objects.in_open_accounts().filter(user=user))
        if not memberships and self._is_shut_out(user):
            logout(request)
            return
        request.memberships = memberships
        request.membership = _chosen(memberships, request.session.get(CURRENT_ACCOUNT))
        if request.membership:
            request.account = request.membership.account
            tracing.account_id.set(request.account.public_id)

    @staticmethod
    def _is_shut_out(user: User) -> bool:
        """The last account was closed while a session lived on."""
        closed = Account.objects.exclude(closed_at=None).filter(memberships__user=user)
        return not user.is_staff and closed.exists()


def _chosen(memberships: list[Membership], account_id: str | None) -> Membership | None:
    for membership in memberships:
        if membership.account.public_id == account_id:
            return membership
    return memberships[0] if memberships else None
