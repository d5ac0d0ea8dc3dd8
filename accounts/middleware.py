import math
import time

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpResponse
from django.urls import reverse
from django.utils.cache import patch_cache_control

from accounts.date_display import DateDisplay, DateFormat, find_zone, use_date_display
from accounts.models import Membership, User
from accounts.request import SiteRequest
from runtime.database.pool import release_connection
from runtime.http.request import Middleware
from runtime.logging import formatters

CURRENT_ACCOUNT_SESSION_KEY = "account"
# The browser's time zone, from static/js/page.js.
TIME_ZONE_COOKIE = "timezone"


class ConstantResponseTimeMiddleware(Middleware):
    """Round up response times of sign-in pages, which would reveal who has an account."""

    VIEWS = {
        "account_signup",
        "account_login",
        "account_reset_password",
        "account_email_verification_sent",
    }

    def __call__(self, request: SiteRequest) -> HttpResponse:
        started = time.monotonic()
        response = self.get_response(request)
        match = request.resolver_match
        step = settings.RESPONSE_TIME_STEP_SECONDS
        if request.method == "POST" and match and match.view_name in self.VIEWS and step:
            release_connection()
            time.sleep(seconds_to_next_step(time.monotonic() - started, step))
        return response


def seconds_to_next_step(elapsed: float, step: float) -> float:
    return math.ceil(elapsed / step) * step - elapsed


class CurrentAccountMiddleware(Middleware):
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
            # The next person at this browser must not go back to these pages.
            patch_cache_control(response, private=True, no_store=True)
        return response

    def _set_account(self, request: SiteRequest, user: User) -> None:
        memberships = list(Membership.objects.in_open_accounts().filter(user=user))
        if not memberships and not user.is_staff and user.has_only_closed_accounts():
            # The last account was closed during this session.
            logout(request)
            return
        request.memberships, request.signed_in_user = memberships, user
        account_id = request.session.get(CURRENT_ACCOUNT_SESSION_KEY)
        chosen = (each for each in memberships if each.account.public_id == account_id)
        request.membership = next(chosen, memberships[0] if memberships else None)
        if request.membership:
            request.account = request.membership.account
            formatters.current_account_id.set(request.account.public_id)


class DateDisplayMiddleware(Middleware):
    """Use the user's time zone and format. Staff pages stay in UTC."""

    def __call__(self, request: SiteRequest) -> HttpResponse:
        user = request.user
        if not user.is_authenticated or request.path.startswith(reverse("admin:index")):
            return self.get_response(request)
        zone = find_zone(user.time_zone or request.COOKIES.get(TIME_ZONE_COOKIE, ""))
        with use_date_display(DateDisplay(zone, DateFormat(user.date_format))):
            return self.get_response(request)
