import sys

from allauth.account import signals as account_signals
from allauth.account.models import EmailAddress
from allauth.mfa import signals as mfa_signals
from allauth.mfa.models import Authenticator
from allauth.socialaccount import signals as provider_signals
from allauth.socialaccount.models import SocialAccount, SocialLogin
from allauth.usersessions.adapter import get_adapter
from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.contrib.auth import signals as auth_signals
from django.core.signals import got_request_exception
from django.dispatch import Signal, receiver
from django.http import HttpRequest

from accounts import audit
from accounts.authentication.browsers import describe_browser
from accounts.authentication.failed_attempts import record_wrong_code
from accounts.authentication.providers.connections import connection_name, sign_in_provider
from accounts.authentication.second_factor.factors import (
    FACTORS,
    authenticator_name,
    is_first_factor,
)
from accounts.authentication.second_factor.proof import record_factor_added
from accounts.models import User
from accounts.services import run_email_confirmed_hooks
from runtime.database.raw_sql import UNAVAILABLE, times_unavailable

# Audit action by signal. failed_attempts.py records new passwords.
ACTIONS: dict[Signal, str] = {
    auth_signals.user_logged_in: "user.signed_in",
    auth_signals.user_logged_out: "user.signed_out",
    account_signals.email_changed: "user.email_changed",
    account_signals.email_confirmed: "user.email_confirmed",
    provider_signals.social_account_added: "user.provider_connected",
    provider_signals.social_account_removed: "user.provider_disconnected",
    mfa_signals.authenticator_added: "user.second_factor_added",
    mfa_signals.authenticator_removed: "user.second_factor_removed",
    mfa_signals.authenticator_reset: "user.recovery_codes_renewed",
}


@receiver(got_request_exception, dispatch_uid="accounts.outages")
def count_outage(sender: object, **kwargs: object) -> None:
    if isinstance(sys.exception(), UNAVAILABLE):
        times_unavailable.labels("page").inc()


@receiver(list(ACTIONS), dispatch_uid="accounts.actions")
def record_action(
    sender: object,
    signal: Signal,
    request: HttpRequest | None = None,
    user: User | None = None,
    **kwargs: object,
) -> None:
    target = ""
    if signal is auth_signals.user_logged_in and request is not None and user is not None:
        target = describe_browser(request.headers.get("User-Agent", ""))
        if provider := sign_in_provider(request, user):
            target += f", with {provider}"
    match kwargs:
        case {"authenticator": Authenticator() as authenticator}:
            target = authenticator_name(authenticator)
        case {"sociallogin": SocialLogin(account=connection)} | {
            "socialaccount": SocialAccount() as connection
        }:
            user, target = connection.user, connection_name(connection)
        case {"from_email_address": None}:
            # allauth also signals a new user's first address as a change.
            return
        case {
            "from_email_address": EmailAddress() as old,
            "to_email_address": EmailAddress() as new,
        }:
            target = f"{old.email} → {new.email}"
        case {"email_address": EmailAddress() as confirmed}:
            user, target = confirmed.user, confirmed.email
    if user is None:
        return
    audit.record_for_user(user, user, ACTIONS[signal], target)


@receiver(account_signals.email_confirmed, dispatch_uid="accounts.confirmed")
def run_confirmed_hooks(sender: object, email_address: EmailAddress, **kwargs: object) -> None:
    run_email_confirmed_hooks(user=email_address.user)


@receiver(account_signals.authentication_step_completed, dispatch_uid="accounts.renew")
def renew_session(
    sender: object, request: HttpRequest, reauthenticated: bool = False, **kwargs: object
) -> None:
    """Change the session id, so that a stolen one can't open the pages behind the proof."""
    old_key = request.session.session_key
    if reauthenticated and old_key:
        request.session.cycle_key()
        new_key = request.session.session_key
        UserSession.objects.filter(session_key=old_key).update(session_key=new_key)


@receiver(mfa_signals.authenticator_added, dispatch_uid="accounts.factor_added")
def handle_factor_added(
    sender: object, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: object
) -> None:
    """The first factor ends all other sessions."""
    if authenticator.type not in FACTORS:
        return
    record_factor_added(request, authenticator)
    if not is_first_factor(authenticator):
        return
    sessions = UserSession.objects.filter(user=user)
    others = list(sessions.exclude(session_key=request.session.session_key))
    get_adapter().end_sessions(others)
    if others:
        messages.info(request, "You were signed out everywhere else.")


@receiver(
    [mfa_signals.authenticator_added, mfa_signals.authenticator_reset],
    dispatch_uid="accounts.codes_viewed",
)
def mark_codes_as_viewed(sender: object, authenticator: Authenticator, **kwargs: object) -> None:
    """allauth would mark them without a lock, which could make a used code valid again."""
    if authenticator.type == Authenticator.Type.RECOVERY_CODES:
        authenticator.wrap().mark_as_viewed()


@receiver(mfa_signals.authentication_failed, dispatch_uid="accounts.wrong_code")
def record_failed_factor(
    sender: object, user: User, authenticator: Authenticator, **kwargs: object
) -> None:
    record_wrong_code(user=user, kind=authenticator_name(authenticator))
