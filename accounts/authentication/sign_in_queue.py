"""Each sign-in costs a password hash.

Requests beyond the queue's size get a short page without a session, a query or a hash.
"""

import math
import threading
import time
from collections.abc import Callable
from functools import cached_property

from django.conf import settings
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse

from accounts.authentication.known_browsers import browser_id
from accounts.request import SiteRequest

Handler = Callable[[SiteRequest], HttpResponse]

# Shared by the web workers of the pool that serves pages on a machine.
QUEUE_SIZE = 32
MAX_WAIT_SECONDS = 20.0
RETRY_AFTER_SECONDS = 5


class SignInQueueMiddleware:
    """Handle sign-ins, sign-ups and new passwords of strangers one at a time in each web worker."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response
        self._lock = threading.Lock()
        self._waiting = 0

    def __call__(self, request: SiteRequest) -> HttpResponse:
        if request.method != "POST" or not request.path_info.startswith(self._paths):
            return self.get_response(request)
        if self._is_known(request):
            return self.get_response(request)
        if self._waiting >= math.ceil(QUEUE_SIZE / settings.POOL_WORKERS):
            # Some clients repeat a refused request as fast as they can.
            time.sleep(settings.SIGN_IN_REFUSAL_SECONDS)
            return _too_many_sign_ins(request)
        self._waiting += 1
        try:
            return self._wait_for_turn(request)
        finally:
            self._waiting -= 1

    def _wait_for_turn(self, request: SiteRequest) -> HttpResponse:
        if not self._lock.acquire(timeout=MAX_WAIT_SECONDS):
            return _too_many_sign_ins(request)
        try:
            return self.get_response(request)
        finally:
            self._lock.release()

    def _is_known(self, request: SiteRequest) -> bool:
        """Return whether this is the sign-in of a user who has signed in with this browser before.

        The other forms contain nothing that proves for which user a password is hashed.
        """
        is_sign_in = request.path_info == self._paths[0]
        return is_sign_in and browser_id(request, request.POST.get("login", "")) is not None

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        reset = reverse("account_reset_password_from_key", kwargs={"uidb36": "0", "key": "0"})
        return reverse("account_login"), reverse("account_signup"), reset.removesuffix("0-0/")


def _too_many_sign_ins(request: SiteRequest) -> HttpResponse:
    request.refusal = "too_many_sign_ins"
    context = {
        "status": 503,
        "title": "Sign-in is busy",
        "sentence": "Too many people are signing in. Try again in a few seconds.",
        "request_id": request.id,
        "support_email": settings.SUPPORT_EMAIL,
    }
    page = HttpResponse(render_to_string("error.html", context), status=503)
    page["Retry-After"] = str(RETRY_AFTER_SECONDS)
    # The access log has a record of this request. Django would log a second one, as an error.
    page._has_been_logged = True  # type: ignore[attr-defined]
    return page
