from datetime import timedelta

import pytest
import time_machine
from allauth.account.models import EmailAddress
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Account, AuditEntry, Membership, User
from accounts.roles import Role
from tests.conftest import PASSWORD, signed_in
from tests.site.actions.sign_in import code_in_mail

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


def fail(email: str, ip: str = "127.0.0.1") -> None:
    Client(REMOTE_ADDR=ip).post("/accounts/login/", {"login": email, "password": "wrong"})


def test_a_wrong_password_is_told_to_the_account_as_somebodys(
    account: Account, owner: User
) -> None:
    fail("OWNER@shop.example", "203.0.113.9")
    assert "user.signed_in" not in actions_of(account)
    entry = account.audit_entries.get(action="user.sign_in_failed")
    assert (entry.actor, entry.who, entry.ip) == (None, "Somebody unknown", "203.0.113.9")
    assert entry.target == owner.email


def test_attempts_do_not_fill_the_log(account: Account, owner: User) -> None:
    """From everywhere: the limits of the sign-in page are not what holds them."""
    for number in range(15):
        cache.clear()
        fail(owner.email, f"203.0.113.{number}")
    failed = account.audit_entries.filter(action="user.sign_in_failed")
    assert failed.count() == 10
    newest = failed.latest("pk")
    assert newest.target == f"{owner.email}; further ones are not noted within the hour"
    cache.clear()
    with time_machine.travel(timezone.now() + timedelta(hours=1, minutes=1)):
        fail(owner.email)
    assert failed.count() == 11


@pytest.mark.parametrize("email", ["nobody@shop.example", "halfway@shop.example"])
def test_a_wrong_password_of_nobody_is_told_to_nobody(account: Account, email: str) -> None:
    if email.startswith("halfway"):
        Client().post("/accounts/signup/", {"email": email, "password1": PASSWORD})
    before = AuditEntry.objects.count()
    fail(email)
    assert AuditEntry.objects.count() == before


def test_a_sign_in_says_with_which_browser(account: Account, owner: User) -> None:
    signed_in(owner)
    assert account.audit_entries.get(action="user.signed_in").target == "Firefox on Linux"


def test_a_sign_up_is_no_change_of_address(db: None) -> None:
    client = Client()
    email = "jane@shop.example"
    client.post("/accounts/signup/", {"email": email, "password1": PASSWORD})
    client.post("/accounts/confirm-email/", {"code": code_in_mail()})
    actions = actions_of(Account.objects.get())
    assert "user.email_confirmed" in actions
    assert "user.email_changed" not in actions


def test_a_password_whose_entry_fails_is_not_changed(
    account: Account, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = signed_in(owner)
    client.raise_request_exception = False
    monkeypatch.setattr(AuditEntry, "save", refuse)
    form = {"oldpassword": PASSWORD, "password1": "a new long one", "password2": "a new long one"}
    assert client.post("/accounts/password/change/", form).status_code == 500
    owner.refresh_from_db()
    assert owner.check_password(PASSWORD)


def test_an_address_whose_entry_fails_is_not_changed(
    account: Account, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = signed_in(owner)
    client.raise_request_exception = False
    client.post("/accounts/email/", {"email": "olive@shop.example", "action_add": ""})
    code = code_in_mail()
    monkeypatch.setattr(AuditEntry, "save", refuse)
    assert client.post("/accounts/confirm-email/", {"code": code}).status_code == 500
    owner.refresh_from_db()
    assert owner.email == "owner@shop.example"
    assert EmailAddress.objects.get(user=owner).email == "owner@shop.example"


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
