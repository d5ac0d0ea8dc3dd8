import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import Account, AuditEntry, Membership, User
from accounts.roles import Role
from tests.conftest import PASSWORD, signed_in

pytestmark = pytest.mark.django_db


def actions_of(account: Account) -> list[str]:
    return list(account.audit_entries.values_list("action", flat=True))


def test_a_sign_in_is_noted_in_every_account_of_the_user(
    account: Account, owner: User, stranger: User
) -> None:
    Membership.objects.create(account=account, user=stranger, role=Role.VIEWER)
    signed_in(stranger)
    for membership in stranger.memberships.all():
        entry = membership.account.audit_entries.get(action="user.signed_in")
        assert (entry.actor, entry.actor_name, entry.ip) == (stranger, stranger.email, "127.0.0.1")


def test_signing_out_and_a_new_password_are_noted(account: Account, owner: User) -> None:
    client = signed_in(owner)
    new = "a new long password"
    client.post(
        "/accounts/password/change/", {"oldpassword": PASSWORD, "password1": new, "password2": new}
    )
    client.post("/accounts/logout/")
    assert {"user.password_changed", "user.signed_out"} <= set(actions_of(account))


def test_an_act_whose_entry_fails_did_not_happen(
    account: Account, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = signed_in(owner)
    client.raise_request_exception = False
    monkeypatch.setattr(AuditEntry, "save", refuse)
    assert client.post("/accounts/profile/", {"name": "Another"}).status_code == 500
    owner.refresh_from_db()
    assert owner.name == "Olive Owner"


def refuse(*_: object, **__: object) -> None:
    raise RuntimeError("the entry cannot be written")


def test_a_wrong_password_is_no_sign_in(account: Account, owner: User, client: Client) -> None:
    client.post("/accounts/login/", {"login": owner.email, "password": "wrong"})
    assert "user.signed_in" not in actions_of(account)


def test_the_address_behind_a_trusted_proxy_is_noted(
    account: Account, owner: User, settings: Settings
) -> None:
    settings.TRUSTED_PROXIES = 1
    Client().post(
        "/accounts/login/",
        {"login": owner.email, "password": PASSWORD},
        headers={"x-forwarded-for": "198.51.100.7, 203.0.113.9"},
    )
    assert account.audit_entries.get(action="user.signed_in").ip == "203.0.113.9"


def test_an_entry_still_names_a_user_who_is_gone(account: Account, owner: User) -> None:
    signed_in(owner)
    User.objects.filter(pk=owner.pk).delete()
    entry = AuditEntry.objects.filter(action="user.signed_in").get()
    assert (entry.actor, entry.actor_name) == (None, "owner@shop.example")
