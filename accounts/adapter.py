"""What allauth asks of us: our mails, our addresses, and who may sign in."""

import logging
from datetime import timedelta
from typing import Any, cast

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.totp.internal.auth import generate_totp_secret
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from accounts import emails
from accounts.models import Membership, User
from accounts.requests import SiteRequest
from accounts.sealing import SealBroken, seal, unseal

logger = logging.getLogger(__name__)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        context = {"email": email, **context}
        emails.queue_sign_in_mail(template=template_prefix, to=email, context=context)

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        """The form has hashed the password already, outside the transaction."""
        user.email = form.cleaned_data["email"]
        user.password = form.hashed_password
        user.save()
        return user

    def get_client_ip(self, request: SiteRequest) -> str:
        return request.ip

    def get_reset_password_from_key_url(self, key: str) -> str:
        uid, _, token = key.partition("-")
        return emails.link("account_reset_password_from_key", uidb36=uid, key=token)

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Who has just signed in need not prove it again at once."""
        session = self.request.session.session_key
        recently = timezone.now() - timedelta(seconds=settings.ACCOUNT_REAUTHENTICATION_TIMEOUT)
        if UserSession.objects.filter(session_key=session, created_at__gte=recently).exists():
            return False
        return bool(super().is_reauthentication_required(app=app, **kwargs))

    def pre_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse | None:
        response = super().pre_login(request, user, **kwargs)
        if response is None and _is_shut_out(user):
            response = redirect("accounts:show-closed")
        return cast(HttpResponse | None, response)


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    def encrypt(self, text: str) -> str:
        return seal(text)

    def decrypt(self, encrypted_text: str) -> str:
        try:
            return unseal(encrypted_text)
        except SealBroken:
            logger.error("A second factor was sealed under another SECRET_KEY.")
            # No code fits it; of an empty secret anybody could work one out.
            return str(generate_totp_secret())


def _is_shut_out(user: User) -> bool:
    """All accounts of this user are closed. Who belongs to none may sign in and open one."""
    if user.is_staff or not user.memberships.exists():
        return False
    return not Membership.objects.in_open_accounts().filter(user=user).exists()
