"""What allauth tells us, written into the audit log of every account the user belongs to."""

import sys
from typing import Any

from allauth.account import signals as account_signals
from allauth.mfa import signals as mfa_signals
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.contrib.auth import signals as auth_signals
from django.core.signals import got_request_exception
from django.dispatch import Signal
from django.http import HttpRequest

from accounts import audit
from accounts.authentication.browsers import describe
from accounts.authentication.failed_attempts import record_wrong_code
from accounts.authentication.second_factor.factors import FACTORS, is_first_factor, name_of
from accounts.authentication.second_factor.proof import record_added
from accounts.models import User
from accounts.services import note_confirmed
from accounts.sessions import end_other_sessions
from runtime.database.raw_sql import UNAVAILABLE, times_unavailable

# The Login that starts a session is told by Django, all else by allauth. A new password is noted
# where it is saved: accounts/authentication/adapter.py.
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
    account_signals.email_confirmed.connect(_tell_confirmed, dispatch_uid="accounts.confirmed")
    account_signals.authentication_step_completed.connect(
        _renew_session, dispatch_uid="accounts.renew"
    )
    mfa_signals.authenticator_added.connect(_tell_added, dispatch_uid="accounts.factor_added")
    for codes_made in (mfa_signals.authenticator_added, mfa_signals.authenticator_reset):
        codes_made.connect(_note_codes_viewed, dispatch_uid="accounts.codes_viewed")
    mfa_signals.authentication_failed.connect(_tell_wrong_code, dispatch_uid="accounts.wrong_code")


def _count_outage(sender: Any, **kwargs: Any) -> None:
    if isinstance(sys.exception(), UNAVAILABLE):
        times_unavailable.add("page")


def _record(
    sender: Any,
    signal: Signal,
    request: HttpRequest | None = None,
    user: User | None = None,
    **kwargs: Any,
) -> None:
    if "email_address" in kwargs:
        user = kwargs["email_address"].user
    if user is None or _is_first_address(kwargs):
        return
    target = _target(signal, request, kwargs)
    audit.record_for_user(user, user, ACTIONS[signal], target, getattr(request, "ip", None))


def _is_first_address(arguments: dict[str, Any]) -> bool:
    """At the end of a sign-up allauth tells of a change from nothing."""
    return "to_email_address" in arguments and arguments.get("from_email_address") is None


def _target(signal: Signal, request: HttpRequest | None, arguments: dict[str, Any]) -> str:
    if signal is auth_signals.user_logged_in and request is not None:
        return describe(request.headers.get("User-Agent", ""))
    if "authenticator" in arguments:
        return name_of(arguments["authenticator"])
    if "to_email_address" in arguments:
        return f"{arguments['from_email_address'].email} → {arguments['to_email_address'].email}"
    address = arguments.get("email_address")
    return str(address.email) if address else ""


def _tell_confirmed(sender: Any, email_address: Any, **kwargs: Any) -> None:
    note_confirmed(user=email_address.user)


def _renew_session(
    sender: Any, request: HttpRequest, reauthenticated: bool = False, **kwargs: Any
) -> None:
    """Who proves again who they are gets a new session, as at the sign-in: an id that somebody has
    read before is worth nothing where the proof is asked for."""
    before = request.session.session_key
    if reauthenticated and before:
        request.session.cycle_key()
        after = request.session.session_key
        UserSession.objects.filter(session_key=before).update(session_key=after)


def _tell_added(
    sender: Any, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any
) -> None:
    """Count adding a factor as its proof, and end the sessions that a password alone opened."""
    if authenticator.type not in FACTORS:
        return
    record_added(request, authenticator)
    if is_first_factor(authenticator) and end_other_sessions(request, user):
        messages.info(request, "You were signed out everywhere else.")


def _note_codes_viewed(sender: Any, authenticator: Authenticator, **kwargs: Any) -> None:
    """On the first view allauth would write the whole row without a lock, and could make a code
    that is used at that moment valid again."""
    if authenticator.type == Authenticator.Type.RECOVERY_CODES:
        authenticator.wrap().mark_as_viewed()


def _tell_wrong_code(
    sender: Any, request: HttpRequest, user: User, authenticator: Authenticator, **kwargs: Any
) -> None:
    record_wrong_code(user=user, kind=name_of(authenticator), ip=getattr(request, "ip", None))
