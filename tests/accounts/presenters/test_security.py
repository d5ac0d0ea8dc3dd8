"""The rows of the security page."""

from datetime import UTC, datetime

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.usersessions.models import UserSession

from accounts.models import User
from accounts.presenters.elements import Badge
from accounts.presenters.security import SecurityRow, second_factor_rows, security_rows
from tests.conftest import make_user, signed_in
from tests.support.second_factors import add_authenticator_app, give_passkey

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

JOINED = datetime(2026, 11, 3, tzinfo=UTC)


@pytest.fixture
def user() -> User:
    return make_user("jane@shop.example", date_joined=JOINED)


def rows(user: User) -> dict[str, SecurityRow]:
    return {row.title: row for row in security_rows(user)}


def test_authenticator_app_is_suggested_until_it_is_set_up(user: User) -> None:
    missing = rows(user)["Authenticator app"]
    assert (missing.action, missing.is_suggested) == ("Set up", True)
    assert missing.badge == Badge("Off")
    add_authenticator_app(user)
    active = rows(user)["Authenticator app"]
    assert (active.action, active.is_suggested) == ("Turn off", False)
    assert active.badge == Badge("On", "deliverable", "check")


def test_rows_count_codes_passkeys_and_sessions(user: User) -> None:
    assert "Recovery codes" not in rows(user)
    codes = RecoveryCodes.activate(user)
    assert rows(user)["Recovery codes"].badge == Badge("10 left")
    for code in codes.get_unused_codes()[:8]:
        codes.validate_code(code)
    assert rows(user)["Recovery codes"].badge == Badge("2 left", "risky")
    give_passkey(user)
    signed_in(user)
    assert rows(user)["Passkeys"].badge == Badge("1")
    assert rows(user)["Sessions"].badge == Badge(str(UserSession.objects.filter(user=user).count()))
    assert Authenticator.objects.filter(user=user).count() == 2


def test_required_factor_is_an_app_or_a_passkey_where_passkeys_work() -> None:
    both, app = (second_factor_rows(passkeys_work=works) for works in (True, False))
    assert [row.title for row in both] == ["Authenticator app", "Passkey"]
    assert [row.title for row in app] == ["Authenticator app"]
