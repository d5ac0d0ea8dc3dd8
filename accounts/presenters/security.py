"""Rows of the security page: how the user signs in, and the state of each way. Pure."""

from dataclasses import dataclass, replace
from datetime import datetime

from django.urls import reverse

from accounts.date_display import date_format
from accounts.presenters.elements import Badge

FEW_RECOVERY_CODES = 3
PASSKEY_TEXT = "Your fingerprint, face, or security key instead of a password and code."


@dataclass(frozen=True)
class SecurityRow:
    title: str
    description: str
    # The text and URL of the row's link.
    action: str
    url: str
    badge: Badge | None = None
    # Whether the link is the page's suggestion.
    is_suggested: bool = False
    # A past time with which the description ends.
    moment: datetime | None = None


@dataclass(frozen=True)
class SignInState:
    has_app: bool
    # None without recovery codes.
    unused_codes: int | None
    passkeys: int
    sessions: int
    joined_at: datetime
    # None: not since the user joined.
    password_changed_at: datetime | None = None

    @property
    def has_second_factor(self) -> bool:
        return self.has_app or self.passkeys > 0


def security_intro(email: str, state: SignInState) -> str:
    intro = f"Sign-in methods and sessions for {email}."
    if state.has_second_factor:
        intro += " Sensitive pages ask for your second factor again after 15 minutes."
    return intro


def required_factor_lead(account_name: str) -> str:
    return (
        f"{account_name} requires a second factor for all members. Set up one of these, and then "
        "continue where you wanted to go. API keys keep working."
    )


def second_factor_rows(*, passkeys_work: bool) -> list[SecurityRow]:
    """Return the ways to set up a first factor."""
    app = replace(_app_row(has_app=False), badge=None)
    passkey = SecurityRow("Passkey", PASSKEY_TEXT, "Add", reverse("mfa_add_webauthn"))
    return [app, passkey] if passkeys_work else [app]


def security_rows(state: SignInState) -> list[SecurityRow]:
    passkeys = SecurityRow(
        "Passkeys",
        PASSKEY_TEXT,
        "Manage",
        reverse("mfa_list_webauthn"),
        Badge(str(state.passkeys)),
    )
    sessions = SecurityRow(
        "Sessions",
        "The browsers you're signed in from.",
        "View",
        reverse("usersessions_list"),
        Badge(str(state.sessions)),
    )
    codes = [] if state.unused_codes is None else [_recovery_codes_row(state.unused_codes)]
    return [_password_row(state), _app_row(has_app=state.has_app), *codes, passkeys, sessions]


def _password_row(state: SignInState) -> SecurityRow:
    title, action, url = "Password", "Change", reverse("account_change_password")
    if state.password_changed_at is not None:
        return SecurityRow(title, "Changed", action, url, moment=state.password_changed_at)
    joined = date_format(state.joined_at, "DATE_FORMAT")
    return SecurityRow(title, f"Not changed since you joined on {joined}.", action, url)


def _app_row(*, has_app: bool) -> SecurityRow:
    title, text = "Authenticator app", "A code from your phone, in addition to your password."
    if has_app:
        on = Badge("On", "deliverable", "check")
        return SecurityRow(title, text, "Turn off", reverse("mfa_deactivate_totp"), on)
    return SecurityRow(
        title, text, "Set up", reverse("mfa_activate_totp"), Badge("Off"), is_suggested=True
    )


def _recovery_codes_row(unused: int) -> SecurityRow:
    return SecurityRow(
        "Recovery codes",
        "A way in if you lose your phone or passkey.",
        "View",
        reverse("mfa_view_recovery_codes"),
        Badge(f"{unused} left", "risky" if unused < FEW_RECOVERY_CODES else ""),
    )
