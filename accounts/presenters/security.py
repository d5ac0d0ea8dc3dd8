from dataclasses import dataclass, replace
from datetime import datetime

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.urls import reverse
from django.utils.text import get_text_list

from accounts.authentication.providers.connections import provider_names, usable_connections
from accounts.date_display import date_format
from accounts.models import User
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


def second_factor_rows(*, passkeys_work: bool) -> list[SecurityRow]:
    app = replace(_app_row(has_app=False), badge=None)
    passkey = SecurityRow("Passkey", PASSKEY_TEXT, "Add", reverse("mfa_add_webauthn"))
    return [app, passkey] if passkeys_work else [app]


def security_rows(user: User) -> list[SecurityRow]:
    rows = [_password_row(user)]
    if names := list(provider_names().values()):
        text = "Accounts that sign you in without a password."
        count = Badge(str(usable_connections(user).count()))
        url = reverse("socialaccount_connections")
        rows.append(SecurityRow(get_text_list(names, "and"), text, "Manage", url, count))
    factors, types = Authenticator.objects.filter(user=user), Authenticator.Type
    rows.append(_app_row(has_app=factors.filter(type=types.TOTP).exists()))
    if codes := factors.filter(type=types.RECOVERY_CODES).first():
        unused = len(codes.wrap().get_unused_codes())
        badge = Badge(f"{unused} left", "risky" if unused < FEW_RECOVERY_CODES else "")
        text = "A way in if you lose your phone or passkey."
        url = reverse("mfa_view_recovery_codes")
        rows.append(SecurityRow("Recovery codes", text, "View", url, badge))
    count = Badge(str(factors.filter(type=types.WEBAUTHN).count()))
    url = reverse("mfa_list_webauthn")
    rows.append(SecurityRow("Passkeys", PASSKEY_TEXT, "Manage", url, count))
    count = Badge(str(len(UserSession.objects.purge_and_list(user))))
    text, url = "The browsers you're signed in from.", reverse("usersessions_list")
    return [*rows, SecurityRow("Sessions", text, "View", url, count)]


def _password_row(user: User) -> SecurityRow:
    if not user.has_usable_password():
        text = "You sign in without one."
        return SecurityRow("Password", text, "Set", reverse("account_set_password"))
    joined = date_format(user.date_joined, "DATE_FORMAT")
    changed = user.password_changed_at
    text = "Changed" if changed else f"Not changed since you joined on {joined}."
    url = reverse("account_change_password")
    return SecurityRow("Password", text, "Change", url, moment=changed)


def _app_row(*, has_app: bool) -> SecurityRow:
    title, text = "Authenticator app", "A code from your phone, in addition to your password."
    if has_app:
        on = Badge("On", "deliverable", "check")
        return SecurityRow(title, text, "Turn off", reverse("mfa_deactivate_totp"), on)
    return SecurityRow(
        title, text, "Set up", reverse("mfa_activate_totp"), Badge("Off"), is_suggested=True
    )
