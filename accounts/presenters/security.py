from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime

from django.urls import reverse
from django.utils.text import get_text_list

from accounts.date_display import date_format
from accounts.presenters.elements import Badge

FEW_RECOVERY_CODES = 3
PASSKEY_TEXT = "Your fingerprint, face, or security key instead of a password and code."


@dataclass(frozen=True)
class SecurityRow:
    title: str
    description: str
    action: str
    url: str
    badge: Badge | None = None
    is_suggested: bool = False
    moment: datetime | None = None


@dataclass(frozen=True)
class SignInState:
    has_app: bool
    unused_codes: int | None
    passkeys: int
    sessions: int
    joined_at: datetime
    # None: never changed.
    password_changed_at: datetime | None = None
    has_password: bool = True
    # By provider that is set up.
    provider_names: Collection[str] = ()
    connections: int = 0

    @property
    def has_second_factor(self) -> bool:
        return self.has_app or self.passkeys > 0


def second_factor_rows(*, passkeys_work: bool) -> list[SecurityRow]:
    app = replace(_app_row(has_app=False), badge=None)
    passkey = SecurityRow("Passkey", PASSKEY_TEXT, "Add", reverse("mfa_add_webauthn"))
    return [app, passkey] if passkeys_work else [app]


def security_rows(state: SignInState) -> list[SecurityRow]:
    passkeys = SecurityRow(
        "Passkeys", PASSKEY_TEXT, "Manage", reverse("mfa_list_webauthn"), Badge(str(state.passkeys))
    )
    sessions = SecurityRow(
        "Sessions",
        "The browsers you're signed in from.",
        "View",
        reverse("usersessions_list"),
        Badge(str(state.sessions)),
    )
    joined = date_format(state.joined_at, "DATE_FORMAT")
    password = SecurityRow(
        "Password",
        "Changed" if state.password_changed_at else f"Not changed since you joined on {joined}.",
        "Change",
        reverse("account_change_password"),
        moment=state.password_changed_at,
    )
    if not state.has_password:
        text = "You sign in without one."
        password = SecurityRow("Password", text, "Set", reverse("account_set_password"))
    rows = [password, _app_row(has_app=state.has_app), passkeys, sessions]
    if (unused := state.unused_codes) is not None:
        codes = SecurityRow(
            "Recovery codes",
            "A way in if you lose your phone or passkey.",
            "View",
            reverse("mfa_view_recovery_codes"),
            Badge(f"{unused} left", "risky" if unused < FEW_RECOVERY_CODES else ""),
        )
        rows.insert(2, codes)
    if state.provider_names:
        connections = SecurityRow(
            get_text_list(list(state.provider_names), "and"),
            "Accounts that sign you in without a password.",
            "Manage",
            reverse("socialaccount_connections"),
            Badge(str(state.connections)),
        )
        rows.insert(1, connections)
    return rows


def _app_row(*, has_app: bool) -> SecurityRow:
    title, text = "Authenticator app", "A code from your phone, in addition to your password."
    if has_app:
        on = Badge("On", "deliverable", "check")
        return SecurityRow(title, text, "Turn off", reverse("mfa_deactivate_totp"), on)
    return SecurityRow(
        title, text, "Set up", reverse("mfa_activate_totp"), Badge("Off"), is_suggested=True
    )
