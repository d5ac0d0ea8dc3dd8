import json
from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from accounts import retention, services, team
from accounts.models import Account, AuditEntry, Invitation, Membership, User
from accounts.roles import Role
from runtime.models import Mail
from tests.conftest import PASSWORD, make_member, make_user, signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def close(account: Account, owner: User, days_ago: int = 0) -> None:
    services.close_account(account=account, actor=owner)
    Account.objects.filter(pk=account.pk).update(
        closed_at=timezone.now() - timedelta(days=days_ago)
    )
    account.refresh_from_db()


def test_unprintable_or_empty_name_is_refused(browser: Client, account: Account) -> None:
    for name in ("", "  ", "a\u202eb", "a\nb", "a\u200bb", "x" * 101):
        response = browser.post("/accounts/account/rename/", {"name": name})
        assert b"errorlist" in response.content, name
    account.refresh_from_db()
    assert account.name == "The Shop"


def test_export_contains_the_data_of_the_account(owner: User, account: Account) -> None:
    response = signed_in(owner).post("/accounts/account/export/")
    export = json.loads(response.content)
    name = f'attachment; filename="{account.public_id}.json"'
    assert response.headers["Content-Disposition"] == name
    assert export["account"]["name"] == "The Shop"
    assert export["members"][0]["email"] == owner.email
    assert "account.exported" in [entry["action"] for entry in export["audit_log"]]


def test_closing_requires_the_account_name(browser: Client, account: Account) -> None:
    browser.post("/accounts/account/close/", {"name": "the shop"})
    account.refresh_from_db()
    assert account.is_open
    browser.post("/accounts/account/close/", {"name": "The Shop"})
    account.refresh_from_db()
    assert not account.is_open


def test_closing_signs_out_all_members_and_refuses_their_sign_in(
    owner: User, account: Account
) -> None:
    developer = make_member(account, Role.DEVELOPER)
    sessions = [signed_in(owner), signed_in(developer)]
    close(account, owner)
    assert not Session.objects.exists()
    for client in sessions:
        assert client.get("/validation/").status_code == 302
    response = Client().post("/accounts/login/", {"login": owner.email, "password": PASSWORD})
    assert response.headers["Location"] == "/accounts/account/closed/"
    # A wrong password doesn't reveal that the account is closed.
    response = Client().post("/accounts/login/", {"login": owner.email, "password": "wrong"})
    assert response.status_code == 200


@pytest.mark.both
def test_member_of_another_account_stays_signed_in_there_and_is_not_erased(
    owner: User, account: Account, stranger: User
) -> None:
    Membership.objects.create(account=account, user=stranger, role=Role.ADMIN)
    client = signed_in(stranger)
    client.post("/accounts/account/switch/", {"account": account.public_id})
    close(account, owner, days_ago=31)
    assert b"Elsewhere" in client.get("/validation/").content
    retention.erase_closed_accounts()
    assert list(User.objects.all()) == [stranger]


def test_account_is_closed_once_with_an_email_and_can_be_reopened(
    owner: User, account: Account, staff: User
) -> None:
    close(account, owner)
    close(account, owner)
    assert AuditEntry.objects.filter(action="account.closed").count() == 1
    last_day = timezone.now() + timedelta(days=30)
    assert f"{last_day:%-d %b %Y}" in Mail.objects.get(to=owner.email).text
    services.reopen_account(account=account, actor=staff)
    assert signed_in(owner).get("/validation/").status_code == 200


@pytest.mark.both
def test_personal_data_is_erased_for_good_after_thirty_days(
    owner: User, account: Account, staff: User
) -> None:
    make_member(account, Role.VIEWER)
    close(account, owner, days_ago=29)
    retention.erase_closed_accounts()
    assert User.objects.filter(pk=owner.pk).exists()
    Account.objects.update(closed_at=timezone.now() - timedelta(days=31))
    retention.erase_closed_accounts()
    retention.erase_closed_accounts()
    account.refresh_from_db()
    assert account.name == "Closed account"
    assert list(User.objects.all()) == [staff]
    assert not AuditEntry.objects.exists()
    assert not Mail.objects.exists()
    services.reopen_account(account=account, actor=staff)
    account.refresh_from_db()
    assert not account.is_open


@pytest.mark.both
def test_account_reopened_during_the_erasure_job_is_not_erased(
    owner: User, account: Account, staff: User
) -> None:
    close(account, owner, days_ago=31)
    due = list(Account.objects.due_for_erasure())
    services.reopen_account(account=account, actor=staff)
    retention.erase_account(account=due[0])
    account.refresh_from_db()
    assert (account.name, account.erased_at) == ("The Shop", None)


@pytest.mark.both
def test_erased_user_leaves_no_trace_in_other_accounts(
    owner: User, account: Account, stranger: User
) -> None:
    elsewhere = stranger.memberships.get().account
    team.invite_member(account=elsewhere, email=owner.email, role=Role.VIEWER, actor=stranger)
    AuditEntry.objects.create(actor=owner, actor_name=owner.email, action="x", ip="192.0.2.1")
    close(account, owner, days_ago=31)
    retention.erase_closed_accounts()
    entries = AuditEntry.objects.values_list("actor_name", "target", "ip")
    assert not [entry for entry in entries if owner.email in entry or "192.0.2.1" in entry]
    assert not Invitation.objects.exists()


def test_deactivated_user_is_not_sent_to_the_closed_account_page(owner: User) -> None:
    User.objects.update(is_active=False)
    response = Client().post("/accounts/login/", {"login": owner.email, "password": PASSWORD})
    assert b"Sign-in disabled" in Client().get(response.headers["Location"]).content


def test_user_owns_at_most_five_open_accounts(browser: Client, owner: User) -> None:
    for number in range(5):
        response = browser.post("/accounts/account/open/", {"name": f"Another {number}"})
    assert b"You already own 5 accounts" in response.content
    assert owner.memberships.count() == 5
    services.close_account(account=Account.objects.open().latest("pk"), actor=owner)
    signed_in(owner).post("/accounts/account/open/", {"name": "One more"})
    assert Account.objects.open().count() == 5


@pytest.mark.both
def test_browser_of_an_expired_session_is_deleted(owner: User) -> None:
    signed_in(owner)
    signed_in(owner)
    long_ago = timezone.now() - timedelta(days=15)
    UserSession.objects.update(created_at=long_ago)
    expired = UserSession.objects.earliest("pk")
    Session.objects.filter(session_key=expired.session_key).update(expire_date=long_ago)
    retention.delete_expired_sessions()
    assert UserSession.objects.get() != expired


@pytest.mark.both
def test_unconfirmed_sign_up_is_deleted_after_a_week() -> None:
    long_ago = timezone.now() - timedelta(days=8)
    unconfirmed = User.objects.create_user(
        "unconfirmed@shop.example", PASSWORD, date_joined=long_ago
    )
    services.open_account(user=unconfirmed)
    make_user("confirmed@shop.example", date_joined=long_ago)
    retention.delete_unconfirmed_users()
    assert list(User.objects.values_list("email", flat=True)) == ["confirmed@shop.example"]
    assert not Account.objects.exists()
