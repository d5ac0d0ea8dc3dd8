from datetime import timedelta

import pytest
import time_machine
from allauth.account.models import EmailAddress
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from accounts import audit
from accounts.models import Account, AuditEntry, Membership, User
from accounts.roles import Role
from tests.conftest import PASSWORD, signed_in_by_form
from tests.support.received_email import code_in_email
from tests.support.request_address import request_from

pytestmark = pytest.mark.django_db


def recorded_actions(account: Account) -> list[str]:
    return list(account.audit_entries.values_list("action", flat=True))


def test_sign_in_is_recorded_in_every_account_of_the_user(account: Account, stranger: User) -> None:
    Membership.objects.create(account=account, user=stranger, role=Role.VIEWER)
    signed_in_by_form(stranger)
    for membership in stranger.memberships.all():
        entry = membership.account.audit_entries.get(action="user.signed_in")
        assert (entry.actor, entry.actor_name, entry.ip) == (stranger, stranger.email, "127.0.0.1")
        assert entry.target == "Firefox on Linux"


def test_entry_has_the_address_of_the_request_unless_the_service_acts_in_it(
    account: Account, owner: User
) -> None:
    with request_from("203.0.113.9"):
        by_member = audit.record(account, owner, "account.renamed")
        by_service = audit.record(account, None, "order.paid")
    later = audit.record(account, owner, "account.renamed")
    assert [entry.ip for entry in (by_member, by_service, later)] == ["203.0.113.9", None, None]


def test_failing_entry_rolls_back_the_action(
    account: Account, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = signed_in_by_form(owner)
    client.raise_request_exception = False
    client.post("/accounts/email/", {"email": "olive@shop.example", "action_add": ""})
    code = code_in_email()
    monkeypatch.setattr(AuditEntry, "save", refuse)
    new = dict.fromkeys(("password1", "password2"), "a new long one")
    for path, form in (
        ("profile/", {"name": "Another"}),
        ("confirm-email/", {"code": code}),
        ("password/change/", {"oldpassword": PASSWORD, **new}),
    ):
        assert client.post(f"/accounts/{path}", form).status_code == 500, path
    owner.refresh_from_db()
    assert (owner.name, owner.email) == ("Olive Owner", "owner@shop.example")
    assert owner.check_password(PASSWORD)
    assert EmailAddress.objects.get(user=owner).email == "owner@shop.example"


def refuse(*_: object, **__: object) -> None:
    raise RuntimeError("the entry cannot be written")


def sign_in_with_wrong_password(email: str, ip: str = "127.0.0.1") -> None:
    Client(REMOTE_ADDR=ip).post("/accounts/login/", {"login": email, "password": "wrong"})


@pytest.mark.anywhere
def test_wrong_passwords_are_recorded_with_an_unknown_actor_at_most_ten_times_per_hour(
    account: Account, owner: User
) -> None:
    """The attempts come from many addresses, so the rate limits of the sign-in don't apply."""
    for number in range(15):
        cache.clear()
        sign_in_with_wrong_password("OWNER@shop.example", f"203.0.113.{number}")
    assert "user.signed_in" not in recorded_actions(account)
    failed = account.audit_entries.filter(action="user.sign_in_failed")
    assert failed.count() == 10
    oldest, newest = failed.earliest("pk"), failed.latest("pk")
    assert (oldest.actor, oldest.who, oldest.ip) == (None, "Unknown person", "203.0.113.0")
    assert oldest.target == owner.email
    assert newest.target == f"{owner.email}; further attempts this hour are not recorded"
    cache.clear()
    with time_machine.travel(timezone.now() + timedelta(hours=1, minutes=1)):
        sign_in_with_wrong_password(owner.email)
    assert failed.count() == 11


@pytest.mark.parametrize("email", ["unknown@shop.example", "unconfirmed@shop.example"])
def test_wrong_password_for_an_unknown_address_is_not_recorded(
    account: Account, email: str
) -> None:
    if email.startswith("unconfirmed"):
        Client().post("/accounts/signup/", {"email": email, "password1": PASSWORD})
    before = AuditEntry.objects.count()
    sign_in_with_wrong_password(email)
    assert AuditEntry.objects.count() == before


def test_sign_up_is_not_recorded_as_a_change_of_address(db: None) -> None:
    client = Client()
    email = "jane@shop.example"
    client.post("/accounts/signup/", {"email": email, "password1": PASSWORD})
    client.post("/accounts/confirm-email/", {"code": code_in_email()})
    actions = recorded_actions(Account.objects.get())
    assert "user.email_confirmed" in actions
    assert "user.email_changed" not in actions
