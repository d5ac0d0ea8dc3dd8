"""What allauth tells us, written into the audit log of every account the user belongs to."""

from typing import Any

from allauth.account import signals as account_signals
from allauth.mfa import signals as mfa_signals
from allauth.usersessions.models import UserSession
from django.contrib.auth import signals as auth_signals
from django.dispatch import Signal
from django.http import HttpRequest

from accounts import audit
from accounts.models import Account, User
from accounts.services import note_confirmed

# The Login that starts a session is told by Django, all else by allauth.
ACTIONS: dict[Signal, str] = {
    auth_signals.user_logged_in: "user.signed_in",
    auth_signals.user_logged_out: "user.signed_out",
    account_signals.password_set: "user.password_set",
    account_signals.password_changed: "user.password_changed",
    account_signals.password_reset: "user.password_reset",
    account_signals.email_changed: "user.email_changed",
    account_signals.email_confirmed: "user.email_confirmed",
    mfa_signals.authenticator_added: "user.second_factor_added",
    mfa_signals.authenticator_removed: "user.second_factor_removed",
    mfa_signals.authenticator_reset: "user.recovery_codes_renewed",
}


def connect() -> None:
    for signal in ACTIONS:
        signal.connect(_record, dispatch_uid="accounts.audit")
    account_signals.email_confirmed.connect(_tell_confirmed, dispatch_uid="accounts.confirmed")
    account_signals.authentication_step_completed.connect(
        _renew_session, dispatch_uid="accounts.renew"
    )


def _record(
    sender: Any,
    signal: Signal,
    request: HttpRequest | None = None,
    user: User | None = None,
    **kwargs: Any,
) -> None:
    if "email_address" in kwargs:
        user = kwargs["email_address"].user
    if user is None:
        return
    action = ACTIONS[signal]
    target = _target(kwargs)
    ip = getattr(request, "ip", None)
    accounts: list[Account | None] = [m.account for m in user.memberships.select_related("account")]
    for account in accounts or [None]:
        audit.record(account, user, action, target, ip)


def _target(arguments: dict[str, Any]) -> str:
    if "authenticator" in arguments:
        return str(arguments["authenticator"].get_type_display())
    address = arguments.get("to_email_address") or arguments.get("email_address")
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
