"""Handle the signals of allauth and Django. Most are recorded in the user's audit logs."""

import sys

from allauth.account import signals as account_signals
from allauth.account.models import EmailAddress
from allauth.mfa import signals as mfa_signals
from allauth.mfa.models import Authenticator
from allauth.usersessions.adapter import get_adapter
from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.contrib.auth import signals as auth_signals
from django.core.signals import got_request_exception
from django.dispatch import Signal
from django.http import HttpRequest

from accounts import audit
from accounts.authentication.browsers import describe_browser
from accounts.authentication.failed_attempts import record_wrong_code
from accounts.authentication.second_factor.factors import (
    FACTORS,
    authenticator_name,
    is_first_factor,
)
from accounts.authentication.second_factor.proof import record_factor_added
from accounts.models import User
from accounts.services import run_email_confirmed_hooks
from runtime.database.raw_sql import UNAVAILABLE, times_unavailable

# Signals that are recorded as they are. New passwords are recorded where they are saved:
# accounts/authentication/failed_attempts.py.
ACTIONS: dict[Signal, str] = {
    auth_signals.user_logged_in: "user.signed_in",
    auth_signals.user_logged_out: "user.signed_out",
    account_signals.email_changed: "user.email_changed",
    account_signals.email_confirmed: "user.email_confirmed",
    mfa_signals.authenticator_added: "user.second_factor_added",
    mfa_signals.authenticator_removed: "user.second_factor_removed",
    mfa_signals.authenticator_reset: "user.recovery_codes_renewed",
}


def connect() -> None:
    for signal in ACTIONS:
        signal.connect(_record, dispatch_uid="accounts.authentication.signals")
    got_request_exception.connect(_count_outage, dispatch_uid="accounts.outages")
    account_signals.email_confirmed.connect(
        _handle_email_confirmed, dispatch_uid="accounts.confirmed"
    )
    account_signals.authentication_step_completed.connect(
        _renew_session, dispatch_uid="accounts.renew"
    )
    mfa_signals.authenticator_added.connect(
        _handle_factor_added, dispatch_uid="accounts.factor_added"
    )
    for codes_created in (mfa_signals.authenticator_added, mfa_signals.authenticator_reset):
        codes_created.connect(_mark_codes_as_viewed, dispatch_uid="accounts.codes_viewed")
    mfa_signals.authentication_failed.connect(
        _record_wrong_code, dispatch_uid="accounts.wrong_code"
    )


def _count_outage(sender: object, **kwargs: object) -> None:
    if isinstance(sys.exception(), UNAVAILABLE):
        times_unavailable.labels("page").inc()


def _record(
    sender: object,
    signal: Signal,
    request: HttpRequest | None = None,
    user: User | None = None,
    **kwargs: object,
) -> None:
    address = kwargs.get("email_address")
    if isinstance(address, EmailAddress):
        user = address.user
    if user is None or _is_first_address(kwargs):
        return
    target = _target(signal, request, kwargs)
    audit.record_for_user(user, user, ACTIONS[signal], target, getattr(request, "ip", None))


def _is_first_address(arguments: dict[str, object]) -> bool:
    """Return whether the address is a new user's first. allauth signals that as a change too."""
    return "to_email_address" in arguments and arguments.get("from_email_address") is None


def _target(signal: Signal, request: HttpRequest | None, arguments: dict[str, object]) -> str:
    if signal is auth_signals.user_logged_in and request is not None:
        return describe_browser(request.headers.get("User-Agent", ""))
    match arguments:
        case {"authenticator": Authenticator() as authenticator}:
            return authenticator_name(authenticator)
        case {
            "from_email_address": EmailAddress() as old,
            "to_email_address": EmailAddress() as new,
        }:
            return f"{old.email} → {new.email}"
        case {"email_address": EmailAddress() as address}:
            return str(address.email)
    return ""


def _handle_email_confirmed(sender: object, email_address: EmailAddress, **kwargs: object) -> None:
    run_email_confirmed_hooks(user=email_address.user)


def _renew_session(
    sender: object, request: HttpRequest, reauthenticated: bool = False, **kwargs: object
) -> None:
    """Change the session id at reauthentication, as at sign-in.

    A session id that was stolen before then doesn't open the pages that required the proof.
    """
    old_key = request.session.session_key
    if reauthenticated and old_key:
        request.session.cycle_key()
        new_key = request.session.session_key
        UserSession.objects.filter(session_key=old_key).update(session_key=new_key)


def _handle_factor_added(
    sender: object, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: object
) -> None:
    """Count adding a factor as its proof. After the first one, end the user's other sessions."""
    if authenticator.type not in FACTORS:
        return
    record_factor_added(request, authenticator)
    if is_first_factor(authenticator) and _end_other_sessions(request, user):
        messages.info(request, "You were signed out everywhere else.")


def _end_other_sessions(request: HttpRequest, user: User) -> int:
    """End all sessions but the current one, with an audit entry. Returns the number ended."""
    sessions = UserSession.objects.filter(user=user)
    others = list(sessions.exclude(session_key=request.session.session_key))
    get_adapter().end_sessions(others)
    return len(others)


def _mark_codes_as_viewed(sender: object, authenticator: Authenticator, **kwargs: object) -> None:
    """Mark new recovery codes as viewed.

    Otherwise allauth writes the whole row without a lock on the first view. If a request uses a
    code at the same time, that write could make the code valid again.
    """
    if authenticator.type == Authenticator.Type.RECOVERY_CODES:
        authenticator.wrap().mark_as_viewed()


def _record_wrong_code(
    sender: object, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: object
) -> None:
    record_wrong_code(
        user=user, kind=authenticator_name(authenticator), ip=getattr(request, "ip", None)
    )
