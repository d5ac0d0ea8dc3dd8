"""Choose the account and the date display of each request, and hide how long sign-in pages take."""

import math
import time
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import logout
from django.db import connections
from django.http import HttpResponse
from django.urls import reverse
from django.utils.cache import patch_cache_control

from accounts.date_display import DateDisplay, DateFormat, find_zone, use_date_display
from accounts.models import Membership, User
from accounts.request import SiteRequest
from runtime.logging import formatters

Handler = Callable[[SiteRequest], HttpResponse]

CURRENT_ACCOUNT_SESSION_KEY = "account"
# static/js/page.js sets it to the browser's time zone.
TIME_ZONE_COOKIE = "timezone"


class ConstantResponseTimeMiddleware:
    """Delay sign-up, sign-in, and reset responses to the next multiple of a fixed interval.

    Without the delay, the response time would reveal whether an address has an account, which
    the text of these pages doesn't.
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
            self._delay_response(started)
        return response

    @staticmethod
    def _delay_response(started: float) -> None:
        step = settings.RESPONSE_TIME_STEP_SECONDS
        if not step:
            return
        # A sleeping thread must not hold a database connection.
        for connection in connections.all(initialized_only=True):
            if not connection.in_atomic_block:
                connection.close()
        time.sleep(seconds_to_next_step(time.monotonic() - started, step))


def seconds_to_next_step(elapsed: float, step: float) -> float:
    return math.ceil(elapsed / step) * step - elapsed


class CurrentAccountMiddleware:
    """Set the account and membership that a signed-in user currently works in."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: SiteRequest) -> HttpResponse:
        request.memberships = []
        request.membership = request.account = request.signed_in_user = None
        was_signed_in = request.user.is_authenticated
        if request.user.is_authenticated:
            self._set_account(request, request.user)
        response = self.get_response(request)
        if was_signed_in and not request.user.is_authenticated:
            response["Clear-Site-Data"] = '"cache"'
        if request.user.is_authenticated:
            # After a sign-out, the next person at this browser must not go back to these pages.
            patch_cache_control(response, private=True, no_store=True)
        return response

    def _set_account(self, request: SiteRequest, user: User) -> None:
        memberships = list(Membership.objects.in_open_accounts().filter(user=user))
        if not memberships and not user.is_staff and user.has_only_closed_accounts():
            # The last account was closed while this session was open.
            logout(request)
            return
        request.memberships, request.signed_in_user = memberships, user
        account_id = request.session.get(CURRENT_ACCOUNT_SESSION_KEY)
        request.membership = _choose_membership(memberships, account_id)
        if request.membership:
            request.account = request.membership.account
            formatters.current_account_id.set(request.account.public_id)


def _choose_membership(memberships: list[Membership], account_id: str | None) -> Membership | None:
    for membership in memberships:
        if membership.account.public_id == account_id:
            return membership
    return memberships[0] if memberships else None


class DateDisplayMiddleware:
    """Show dates in the signed-in user's time zone and format. Staff pages stay in UTC."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: SiteRequest) -> HttpResponse:
        user = request.user
        if not user.is_authenticated or request.path.startswith(reverse("admin:index")):
            return self.get_response(request)
        zone = find_zone(user.time_zone or request.COOKIES.get(TIME_ZONE_COOKIE, ""))
        with use_date_display(DateDisplay(zone, DateFormat(user.date_format))):
            return self.get_response(request)
