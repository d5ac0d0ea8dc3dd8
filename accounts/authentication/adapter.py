"""What allauth asks of us: our mails, our addresses, and who may sign in."""

import logging
from datetime import timedelta
from typing import Any, cast

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.stagekit import clear_login
from allauth.account.models import EmailAddress
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
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
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from accounts import audit, emails
from accounts.authentication import failed_attempts, rate_limits
from accounts.authentication.known_browsers import remember_browser
from accounts.authentication.second_factor.factors import has_second_factor
from accounts.authentication.second_factor.proof import is_recent
from accounts.models import Membership, User
from accounts.request import SiteRequest
from runtime.encryption import DecryptionFailed, decrypt, encrypt

logger = logging.getLogger(__name__)

# Any other page with a new password changes the one there was.
PASSWORD_ACTS = {
    "account_set_password": "user.password_set",
    "account_reset_password_from_key": "user.password_reset",
}
# What allauth calls each proof, and what our pages call it.
WAYS = {
    "reauthenticate": "Use your password",
    "mfa_reauthenticate": "Use a code",
    "mfa_reauthenticate:webauthn": "Use a passkey",
}


# In the session between the steps of a sign-in: a digest of the password it began with.
PROVEN_WITH = "sign_in_proven_with"


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        emails.queue_sign_in_email(
            template=template_prefix,
            to=email,
            context={"email": email, **context},
            # Strangers who fill a mailbox don't keep its owner from resetting the password.
            is_known=rate_limits.is_known(self.request, email),
        )

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        """The form has hashed the password already, outside the transaction."""
        user.email = form.cleaned_data["email"]
        user.password = form.hashed_password
        user.save()
        return user

    def set_password(self, user: User, password: str) -> None:
        user.set_password(password)
        page = self.request.resolver_match.view_name
        action = PASSWORD_ACTS.get(page, "user.password_changed")
        if action == "user.password_reset":
            self.request.has_reset_password = user
        failed_attempts.save_password(user=user, action=action, ip=self.request.ip)

    def pre_authenticate(self, request: SiteRequest, **credentials: Any) -> None:
        """Replaces allauth's, with which strangers can keep the owner of an address out."""
        usage = rate_limits.count_sign_in(request, credentials.get("email", ""))
        if usage is None:
            raise self.validation_error("too_many_login_attempts")
        # allauth takes it back where the password is right.
        self._login_failed_rl_usage = usage

    def _get_login_attempts_cache_key(self, request: SiteRequest, **credentials: Any) -> str:
        """For allauth, which forgets the failed attempts after a password reset."""
        return str(credentials.get("email", "")).lower()

    def post_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **kwargs)
        remember_browser(request, response, user)
        return response

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        try:
            with transaction.atomic():
                return bool(super().confirm_email(request, email_address))
        except IntegrityError:
            # Another user confirmed the same address in the same moment.
            template = "account/messages/email_confirmation_failed.txt"
            self.add_message(request, messages.ERROR, template, {"email": email_address.email})
            return False

    def authentication_failed(self, request: SiteRequest, **credentials: Any) -> None:
        """At the sign-in, and where a page asks for the password again."""
        failed_attempts.record_wrong_password(email=credentials.get("email", ""), ip=request.ip)

    def get_client_ip(self, request: SiteRequest) -> str:
        return request.ip

    def get_reset_password_from_key_url(self, key: str) -> str:
        uid, _, token = key.partition("-")
        return emails.link("account_reset_password_from_key", uidb36=uid, key=token)

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """A recent sign-in is proof enough, but only one with the factor if the user has one."""
        if has_second_factor(self.request.user):
            return not is_recent(self.request)
        session = self.request.session.session_key
        recently = timezone.now() - timedelta(seconds=settings.ACCOUNT_REAUTHENTICATION_TIMEOUT)
        if UserSession.objects.filter(session_key=session, created_at__gte=recently).exists():
            return False
        return bool(super().is_reauthentication_required(app=app, **kwargs))

    def get_reauthentication_methods(self, user: User) -> list[dict[str, Any]]:
        """Return the pages that ask again, the best one first: a password proves no factor."""
        methods = super().get_reauthentication_methods(user)
        if has_second_factor(user):
            methods = [one for one in methods if one["id"] != "reauthenticate"]
            if not is_mfa_enabled(user, types=[Authenticator.Type.TOTP]):
                # A passkey before the recovery codes.
                methods.reverse()
        return [{**one, "description": WAYS[one["id"]]} for one in methods]

    def pre_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse | None:
        """Called after the password step, or when a passkey takes its place."""
        request.session[PROVEN_WITH] = user.get_session_auth_hash()
        return self._refusal(request, user)

    def login(self, request: HttpRequest, user: User) -> None:
        """Called after the last step. Refuses what has changed since the first one."""
        proven_with = request.session.pop(PROVEN_WITH, "")
        response = self._refusal(request, user)
        if response is None and not constant_time_compare(
            proven_with, user.get_session_auth_hash()
        ):
            messages.error(request, "Your password was changed. Sign in again.")
            response = redirect("account_login")
            clear_login(request)
        if response is not None:
            raise ImmediateHttpResponse(response)
        super().login(request, user)

    def _refusal(self, request: HttpRequest, user: User) -> HttpResponse | None:
        if user.is_active and not _is_shut_out(user):
            return None
        clear_login(request)
        if user.is_active:
            return redirect("accounts:show-closed")
        return cast(HttpResponse, self.respond_user_inactive(request, user))


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    def encrypt(self, text: str) -> str:
        return encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        try:
            return decrypt(encrypted_text)
        except DecryptionFailed:
            logger.error("A second factor was sealed under another SECRET_KEY.")
            # No code fits it; of an empty secret anybody could work one out.
            return str(generate_totp_secret())


class SessionsAdapter(DefaultUserSessionsAdapter):  # type: ignore[misc]
    @transaction.atomic
    def end_sessions(self, sessions: list[UserSession]) -> None:
        super().end_sessions(sessions)
        if sessions:
            user, number = sessions[0].user, len(sessions)
            target = f"{number} browser{pluralize(number)}"
            audit.record_for_user(user, user, "user.sessions_ended", target, context.request.ip)


def _is_shut_out(user: User) -> bool:
    """All accounts of this user are closed. Who belongs to none may sign in and open one."""
    if user.is_staff or not user.memberships.exists():
        return False
    return not Membership.objects.in_open_accounts().filter(user=user).exists()
