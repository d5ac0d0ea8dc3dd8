import logging
from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.stagekit import clear_login
from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse, ReauthenticationRequired
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import generate_totp_secret
from allauth.mfa.utils import is_mfa_enabled
from allauth.usersessions.adapter import DefaultUserSessionsAdapter
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from accounts import audit, emails
from accounts.authentication import failed_attempts, rate_limits
from accounts.authentication.known_browsers import remember_browser
from accounts.authentication.providers.connections import (
    has_recently_confirmed,
    proves_by_provider,
)
from accounts.authentication.second_factor.factors import has_second_factor
from accounts.authentication.second_factor.proof import has_recent_proof
from accounts.models import User
from accounts.request import SiteRequest
from runtime.encryption import DecryptionFailed, decrypt, encrypt

if TYPE_CHECKING:
    from accounts.authentication.forms import SignupForm

logger = logging.getLogger(__name__)

# Audit action by page. Other pages record a password change.
PASSWORD_ACTIONS = {
    "account_set_password": "user.password_set",
    "account_reset_password_from_key": "user.password_reset",
}
REAUTHENTICATION_LABELS = {
    "reauthenticate": "Use your password",
    "mfa_reauthenticate": "Use a code",
    "mfa_reauthenticate:webauthn": "Use a passkey",
    "provider": "Use a connected account",
}

# Session key of the password's digest at the first step of a sign-in.
SIGN_IN_PROOF_KEY = "sign_in_proven_with"


class AccountAdapter(DefaultAccountAdapter):
    error_messages: ClassVar[dict[str, str]] = {
        **DefaultAccountAdapter.error_messages,
        "duplicate_email": "You already use this email. Enter a different one.",
        "email_password_mismatch": "The email or password is incorrect. Try again.",
        "email_taken": "This email is already in use. Enter a different one.",
        "enter_current_password": "Your current password is incorrect. Try again.",
        "incorrect_code": "Incorrect code. Try again.",
        "incorrect_password": "Incorrect password. Try again.",
        "too_many_login_attempts": "Too many failed sign-ins. Try again in a few minutes.",
    }

    def send_mail(self, template_prefix: str, email: str, context: dict[str, object]) -> None:
        emails.queue_sign_in_email(
            template=template_prefix,
            to=email,
            context={"email": email, **context},
            # Strangers must not exhaust the owner's limit of password resets.
            is_known=rate_limits.is_known(self.request, email),
        )

    def save_user(
        self, request: HttpRequest, user: User, form: "SignupForm", commit: bool = True
    ) -> User:
        """The password was hashed outside the transaction."""
        user.email = form.cleaned_data["email"]
        user.password = form.hashed_password
        user.save()
        return user

    def set_password(self, user: User, password: str) -> None:
        user.set_password(password)
        page = self.request.resolver_match.view_name
        action = PASSWORD_ACTIONS.get(page, "user.password_changed")
        if action == "user.password_reset":
            self.request.password_reset_user = user
        failed_attempts.save_password(user=user, action=action)

    def pre_authenticate(self, request: SiteRequest, **credentials: str) -> None:
        """With allauth's limits, strangers could lock an owner out."""
        usage = rate_limits.count_sign_in(request, credentials.get("email", ""))
        if usage is None:
            raise self.validation_error("too_many_login_attempts")
        # allauth rolls this back if the password is right.
        self._login_failed_rl_usage = usage

    def _get_login_attempts_cache_key(self, request: SiteRequest, **credentials: str) -> str:
        return str(credentials.get("email", "")).lower()

    def post_login(self, request: HttpRequest, user: User, **kwargs: object) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **kwargs)
        remember_browser(request, response, user)
        return response

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        try:
            with transaction.atomic():
                return bool(super().confirm_email(request, email_address))
        except IntegrityError:
            # Another user has just confirmed the address.
            template = "account/messages/email_confirmation_failed.txt"
            self.add_message(request, messages.ERROR, template, {"email": email_address.email})
            return False

    def authentication_failed(self, request: SiteRequest, **credentials: str) -> None:
        failed_attempts.record_wrong_password(email=credentials.get("email", ""))

    def get_client_ip(self, request: SiteRequest) -> str:
        return request.ip

    def get_reset_password_from_key_url(self, key: str) -> str:
        uid, _, token = key.partition("-")
        return emails.link("account_reset_password_from_key", uidb36=uid, key=token)

    def is_reauthentication_required(self, *, app: str, **kwargs: object) -> bool:
        """Return whether the second factor's proof, or else the sign-in, is too old."""
        if has_second_factor(self.request.user):
            return not has_recent_proof(self.request)
        session = self.request.session.session_key
        since = timezone.now() - timedelta(seconds=settings.ACCOUNT_REAUTHENTICATION_TIMEOUT)
        if UserSession.objects.filter(session_key=session, created_at__gte=since).exists():
            return False
        if proves_by_provider(self.request.user):
            if not has_recently_confirmed(self.request, self.request.user):
                # allauth would ask users without a password for nothing.
                raise ReauthenticationRequired
            return False
        return bool(super().is_reauthentication_required(app=app, **kwargs))

    def get_reauthentication_methods(self, user: User) -> list[dict[str, str]]:
        """Return the pages, preferred first. With a second factor, a password isn't enough."""
        methods = super().get_reauthentication_methods(user)
        if has_second_factor(user):
            methods = [method for method in methods if method["id"] != "reauthenticate"]
            if not is_mfa_enabled(user, types=[Authenticator.Type.TOTP]):
                # Passkeys before recovery codes.
                methods.reverse()
        elif proves_by_provider(user):
            methods = [{"id": "provider", "url": reverse("accounts:confirm-at-provider")}]
        return [
            {**method, "description": REAUTHENTICATION_LABELS[method["id"]]} for method in methods
        ]

    def pre_login(self, request: HttpRequest, user: User, **kwargs: object) -> HttpResponse | None:
        """Store the password's digest after the first step, for `login`."""
        request.session[SIGN_IN_PROOF_KEY] = user.get_session_auth_hash()
        return self._refusal_response(request, user)

    def login(self, request: HttpRequest, user: User) -> None:
        """Sign in after the last step, unless user or password changed since the first."""
        proof = request.session.pop(SIGN_IN_PROOF_KEY, "")
        response = self._refusal_response(request, user)
        if response is None and not constant_time_compare(proof, user.get_session_auth_hash()):
            messages.error(request, "Your password was changed. Sign in again.")
            response = redirect("account_login")
            clear_login(request)
        if response is not None:
            raise ImmediateHttpResponse(response)
        super().login(request, user)

    def _refusal_response(self, request: HttpRequest, user: User) -> HttpResponse | None:
        if user.is_active and (user.is_staff or not user.has_only_closed_accounts()):
            return None
        clear_login(request)
        if user.is_active:
            return redirect("accounts:show-closed")
        response: HttpResponse = self.respond_user_inactive(request, user)
        return response


class SecondFactorAdapter(DefaultMFAAdapter):
    error_messages: ClassVar[dict[str, str]] = {
        **DefaultMFAAdapter.error_messages,
        "cannot_generate_recovery_codes": "Set up an authenticator app or a passkey first.",
        "incorrect_code": "Incorrect code. Try again.",
    }

    def encrypt(self, text: str) -> str:
        return encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        try:
            return decrypt(encrypted_text)
        except DecryptionFailed:
            logger.error(
                "Cannot decrypt a second factor: it was encrypted with another SECRET_KEY."
            )
            # No code matches a random secret. Anyone could compute the codes of an empty one.
            return str(generate_totp_secret())


class SessionsAdapter(DefaultUserSessionsAdapter):
    @transaction.atomic
    def end_sessions(self, sessions: list[UserSession]) -> None:
        super().end_sessions(sessions)
        if sessions:
            user, count = sessions[0].user, len(sessions)
            target = f"{count} browser{pluralize(count)}"
            audit.record_for_user(user, user, "user.sessions_ended", target)
