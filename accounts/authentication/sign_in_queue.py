"""Limit how many strangers sign in at the same time.

Each sign-in costs a password hash and the work of its page. Without a limit, 60 strangers who try
wrong passwords take the CPU and the connections that the API needs. Requests beyond the queue's
size get a short page without a session, a query or a hash.
"""

import threading
import time
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path

from django.conf import settings
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse

from accounts.authentication.known_browsers import browser_id, is_known_browser
from accounts.authentication.machine_slots import MachineSlots
from accounts.authentication.passwords import hash_queue
from accounts.authentication.passwords.hash_queue import HashingUnavailable
from accounts.request import SiteRequest
from runtime.http.load_shedding import concurrency_limit

Handler = Callable[[SiteRequest], HttpResponse]

# Shared by all web workers of a machine.
QUEUE_SIZE = 32
# After this wait, strangers get a page that asks them to try again.
MAX_WAIT_SECONDS = 20.0
# Pause between two strangers while the worker serves the API: a sign-in takes 20 ms of its CPU.
PAUSE_SECONDS = 1.0
RETRY_AFTER_SECONDS = 5


class SignInQueueMiddleware:
    """Refuse sign-ins, sign-ups and new passwords of strangers beyond the queue's size."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response
        self._lock = threading.Lock()
        self._next_at, self._api_calls = 0.0, 0

    def __call__(self, request: SiteRequest) -> HttpResponse:
        is_stranger = request.path_info.startswith(self._paths) and not self._is_known(request)
        hash_queue.for_stranger.set(is_stranger)
        if not is_stranger:
            return self.get_response(request)
        if request.method == "POST":
            return self._queue(request)
        if _slots().is_full():
            _slow_down()
        return self.get_response(request)

    def _queue(self, request: SiteRequest) -> HttpResponse:
        slot = _slots().take()
        if slot is None:
            _slow_down()
            return _too_many_sign_ins(request)
        try:
            return self._handle(request)
        finally:
            _slots().free(slot)

    def _handle(self, request: SiteRequest) -> HttpResponse:
        """Handle one stranger at a time in this worker, and leave its CPU to the API."""
        if not self._lock.acquire(timeout=MAX_WAIT_SECONDS):
            return _too_many_sign_ins(request)
        try:
            self._leave_cpu_to_api()
            return self.get_response(request)
        finally:
            self._lock.release()

    def _leave_cpu_to_api(self) -> None:
        """Pause if the worker has served API calls since the previous stranger."""
        if concurrency_limit.admitted != self._api_calls:
            time.sleep(max(0.0, self._next_at - time.monotonic()))
        self._next_at = time.monotonic() + PAUSE_SECONDS
        self._api_calls = concurrency_limit.admitted

    def process_exception(self, request: SiteRequest, error: Exception) -> HttpResponse | None:
        return _too_many_sign_ins(request) if isinstance(error, HashingUnavailable) else None

    def _is_known(self, request: SiteRequest) -> bool:
        """Return whether a user has signed in with this browser before.

        A POST counts only if it is that user's sign-in. The other forms contain nothing that proves
        for which user a password is hashed.
        """
        if request.method != "POST":
            return is_known_browser(request)
        is_sign_in = request.path_info == self._paths[0]
        return is_sign_in and browser_id(request, request.POST.get("login", "")) is not None

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        """Return the pages that hash a password for strangers."""
        reset = reverse("account_reset_password_from_key", kwargs={"uidb36": "0", "key": "0"})
        return reverse("account_login"), reverse("account_signup"), reset.removesuffix("0-0/")


def _slow_down() -> None:
    """Delay the response, because some clients repeat a refused request as fast as they can."""
    time.sleep(settings.SIGN_IN_REFUSAL_SECONDS)


@cache
def _slots() -> MachineSlots:
    return MachineSlots(Path(settings.DATA_DIR) / "sign-ins.lock", QUEUE_SIZE)


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
