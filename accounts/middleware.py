import math
import re
import time
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import logout
from django.db import connections
from django.http import HttpResponse
from django.utils.cache import patch_cache_control

from accounts.models import Account, Membership, User
from accounts.request import SiteRequest
from runtime.logging import formatters

Handler = Callable[[SiteRequest], HttpResponse]

CURRENT_ACCOUNT = "account"
_CLIENTS_OWN_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


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
            formatters.account_id.set(request.account.public_id)

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
