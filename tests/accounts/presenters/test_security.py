"""The rows of the security page."""

from datetime import UTC, datetime

from accounts.presenters.elements import Badge
from accounts.presenters.security import (
    SecurityRow,
    SignInState,
    second_factor_rows,
    security_rows,
)

JOINED = datetime(2026, 11, 3, tzinfo=UTC)


def state(
    *,
    has_app: bool = False,
    unused_codes: int | None = None,
    passkeys: int = 0,
    sessions: int = 1,
    password_changed_at: datetime | None = None,
) -> SignInState:
    return SignInState(has_app, unused_codes, passkeys, sessions, JOINED, password_changed_at)


def rows(shown: SignInState) -> dict[str, SecurityRow]:
    return {row.title: row for row in security_rows(shown)}


def test_authenticator_app_is_suggested_until_it_is_set_up() -> None:
    missing = rows(state())["Authenticator app"]
    assert (missing.action, missing.is_suggested) == ("Set up", True)
    assert missing.badge == Badge("Off")
    active = rows(state(has_app=True))["Authenticator app"]
    assert (active.action, active.is_suggested) == ("Turn off", False)
    assert active.badge == Badge("On", "deliverable", "check")


def test_rows_count_codes_passkeys_and_sessions() -> None:
    assert "Recovery codes" not in rows(state())
    assert rows(state(unused_codes=3))["Recovery codes"].badge == Badge("3 left")
    assert rows(state(unused_codes=2))["Recovery codes"].badge == Badge("2 left", "risky")
    shown = rows(state(passkeys=2, sessions=4))
    assert shown["Passkeys"].badge == Badge("2")
    assert shown["Sessions"].badge == Badge("4")


def test_password_row_says_when_it_was_changed() -> None:
    unchanged = rows(state())["Password"]
    assert unchanged.description == "Not changed since you joined on 3 Nov 2026."
    assert unchanged.moment is None
    changed = rows(state(password_changed_at=JOINED))["Password"]
    assert (changed.description, changed.moment) == ("Changed", JOINED)


def test_required_factor_is_an_app_or_a_passkey_where_passkeys_work() -> None:
    both, app = (second_factor_rows(passkeys_work=works) for works in (True, False))
    assert [row.title for row in both] == ["Authenticator app", "Passkey"]
    assert [row.title for row in app] == ["Authenticator app"]
