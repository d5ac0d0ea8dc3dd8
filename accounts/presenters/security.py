"""Rows of the security page: how the user signs in, and the state of each way. Pure."""

from dataclasses import dataclass

from django.urls import reverse

from accounts.presenters.elements import Badge

FEW_RECOVERY_CODES = 3


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


@dataclass(frozen=True)
class SignInState:
    has_app: bool
    # None without recovery codes.
    unused_codes: int | None
    passkeys: int
    sessions: int

    @property
    def has_second_factor(self) -> bool:
        return self.has_app or self.passkeys > 0


def security_intro(email: str, state: SignInState) -> str:
    intro = f"Sign-in methods and sessions for {email}."
    if state.has_second_factor:
        intro += " Sensitive pages ask for your second factor again after 15 minutes."
    return intro


def security_rows(state: SignInState) -> list[SecurityRow]:
    password = SecurityRow(
        "Password", "At least 10 characters.", "Change", reverse("account_change_password")
    )
    passkeys = SecurityRow(
        "Passkeys",
        "Your fingerprint, face, or security key instead of a password and code.",
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
    return [password, _app_row(has_app=state.has_app), *codes, passkeys, sessions]


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
