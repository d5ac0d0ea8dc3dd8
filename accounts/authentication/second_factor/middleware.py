"""Every view that requires sign-in is closed unless it is listed here."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect

from accounts.authentication.second_factor.factors import has_second_factor
from accounts.request import SiteRequest
from runtime.http.request import Middleware

View = Callable[..., HttpResponseBase]

PAGE = "accounts:add-required-factor"
NEXT_SESSION_KEY = "after_required_factor"
NOTHING_SAVED = "Nothing was saved. Set up a second factor, then send the form again."
# These pages link to the page that the user wanted.
_LAST_PAGES = {
    "accounts:show-security",
    "mfa_list_webauthn",
    "mfa_view_recovery_codes",
    "mfa_download_recovery_codes",
}
# The set-up, and ways to avoid it, such as another account.
_OPEN_VIEWS = {
    *(PAGE, "mfa_activate_totp", "mfa_add_webauthn", "account_reauthenticate", "account_logout"),
    *("accounts:agree-to-terms", "accounts:open-account", "accounts:switch-account"),
    "accounts:confirm-at-provider",
    # An unconfirmed address prevents the set-up.
    *("account_email", "account_email_verification_sent"),
}


class RequiredFactorMiddleware(Middleware):
    def __call__(self, request: SiteRequest) -> HttpResponse:
        request.continue_to = ""
        account, user = request.account, request.signed_in_user
        request.must_add_factor = bool(
            account and account.requires_second_factor and user and not has_second_factor(user)
        )
        return self.get_response(request)

    def process_view(
        self, request: SiteRequest, view: View, args: object, kwargs: dict[str, str]
    ) -> HttpResponse | None:
        # Public pages need no factor, and the admin checks its users.
        match = request.resolver_match
        if request.account is None or not match or not getattr(view, "login_required", True):
            return None
        name = match.view_name
        if not request.must_add_factor:
            # Offer to continue to the wanted page, until the user opens another one.
            if name in _LAST_PAGES:
                request.continue_to = request.session.get(NEXT_SESSION_KEY, "")
            elif name not in _OPEN_VIEWS:
                request.session.pop(NEXT_SESSION_KEY, None)
            return None
        own = request.membership and request.membership.public_id
        is_leaving = name == "accounts:remove-member" and kwargs.get("membership_id") == own
        if name in _OPEN_VIEWS or is_leaving:
            return None
        if request.method == "POST":
            messages.info(request, NOTHING_SAVED)
        # Don't return to URLs that scripts fetch.
        elif request.headers.get("Sec-Fetch-Mode", "navigate") == "navigate":
            request.session[NEXT_SESSION_KEY] = request.get_full_path()
        return redirect(PAGE)
