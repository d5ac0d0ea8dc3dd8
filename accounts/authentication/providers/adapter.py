"""Sign-in with Google and GitHub.

Their addresses never find a user, not even verified ones: users connect a provider while they are
signed in.
"""

import logging
from typing import Any, ClassVar
from urllib.parse import urlencode

from allauth.account.internal.flows.login import record_authentication
from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.internal.flows.connect import connect
from allauth.socialaccount.models import SocialAccount, SocialLogin
from allauth.socialaccount.providers.base import AuthError, AuthProcess
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from accounts import audit
from accounts.authentication.forms import DISPOSABLE, opened_invitation
from accounts.authentication.providers.connections import connection_name
from accounts.engine import get_engine
from accounts.models import User
from accounts.request import SiteRequest
from accounts.retention import delete_unconfirmed_sign_up
from accounts.services import agree_to_terms, open_account, run_email_confirmed_hooks
from engine import SIGN_UP
from runtime.database.pool import release_connection

logger = logging.getLogger(__name__)

CONNECTIONS = "socialaccount_connections"


class ProviderAdapter(DefaultSocialAccountAdapter):
    error_messages: ClassVar[dict[str, str]] = {
        **DefaultSocialAccountAdapter.error_messages,
        "no_password": "This is your only way to sign in. Set a password first.",
    }

    def get_requests_session(self) -> Any:
        release_connection()
        return super().get_requests_session()

    def populate_user(self, request: HttpRequest, login: SocialLogin, data: dict[str, str]) -> User:
        """Keep the primary address, if it is verified, and a label for the connection."""
        verified = [each for each in login.email_addresses if each.primary and each.verified]
        user: User = login.user
        user.email = verified[0].email.lower() if verified else ""
        login.account.extra_data = {"label": data.get("username") or data.get("email", "")}
        login.email_addresses = []
        return user

    def pre_social_login(self, request: SiteRequest, login: SocialLogin) -> None:
        # It would be stored in the session.
        login.token = None
        if login.state.get("process") == AuthProcess.CONNECT:
            # One transaction with the audit entry and the email.
            with transaction.atomic():
                response = connect(request, login)
            raise ImmediateHttpResponse(response)
        if request.user.is_authenticated and login.user == request.user:
            record_authentication(request, request.user, "socialaccount", reauthenticated=True)
            page = login.get_redirect_url(request) or reverse("accounts:show-security")
            raise ImmediateHttpResponse(redirect(page))

    def is_open_for_signup(self, request: HttpRequest, login: SocialLogin) -> bool:
        email, text = login.user.email, ""
        users = User.objects.filter(email=email)
        if users.exclude(pk__in=User.objects.never_confirmed()).exists():
            raise ImmediateHttpResponse(refuse_taken(request, login))
        if not email:
            text = f"{login.provider.name} hasn't verified your email. Sign in another way."
        elif get_engine().check(email, scope=SIGN_UP).checks.get("disposable"):
            text = DISPOSABLE
        if text:
            messages.error(request, text)
            raise ImmediateHttpResponse(redirect("account_login"))
        return True

    @transaction.atomic
    def save_user(self, request: SiteRequest, login: SocialLogin, form: object = None) -> User:
        user: User = login.user
        invitation = opened_invitation(request, user.email)
        delete_unconfirmed_sign_up(email=user.email)
        user.save()
        login.account.user = user
        login.account.save()
        EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
        account = open_account(user=user) if invitation is None else None
        agree_to_terms(user=user, account=account)
        target = connection_name(login.account)
        audit.record_for_user(user, user, "user.provider_connected", target)
        if account is not None:
            run_email_confirmed_hooks(user=user)
        return user

    def validate_disconnect(self, account: SocialAccount, rows: QuerySet[SocialAccount]) -> None:
        # Lock the rows: each of two concurrent forms could rely on the other's connection.
        others = [row.provider for row in rows.select_for_update().order_by("pk") if row != account]
        usable = settings.SOCIALACCOUNT_PROVIDERS.keys() & set(others)
        if not usable and not account.user.has_usable_password():
            raise self.validation_error("no_password")

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: str,
        exception: object = None,
        **kwargs: object,
    ) -> None:
        if exception is not None:
            kind = type(exception).__name__
            logger.warning("Sign-in with %s failed: %s.", provider.name, kind)
        if error != AuthError.CANCELLED:
            messages.error(request, f"{provider.name} couldn't confirm who you are. Try again.")
        page = CONNECTIONS if request.user.is_authenticated else "account_login"
        raise ImmediateHttpResponse(redirect(page))


def refuse_taken(request: HttpRequest, login: SocialLogin) -> HttpResponse:
    """Say so: the provider has verified that the address is the visitor's."""
    email, provider = login.user.email, login.provider.name
    text = f"{email} already has an account. Sign in to it to connect {provider}."
    messages.error(request, text)
    return redirect(f"{reverse('account_login')}?{urlencode({'next': reverse(CONNECTIONS)})}")
