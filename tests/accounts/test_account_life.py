import json
from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts import retention, services, team
from accounts.models import Account, AuditEntry, Invitation, Membership, User
from accounts.roles import Role
from runtime.models import Mail
from tests.conftest import PASSWORD, make_member, make_user, signed_in

pytestmark = pytest.mark.django_db


def close(account: Account, owner: User, days_ago: int = 0) -> None:
    services.close_account(account=account, actor=owner)
    Account.objects.filter(pk=account.pk).update(
        closed_at=timezone.now() - timedelta(days=days_ago)
    )
    account.refresh_from_db()


def test_an_account_is_renamed(owner: User, account: Account) -> None:
    signed_in(owner).post("/accounts/account/rename/", {"name": "The Better Shop"})
    account.refresh_from_db()
    assert account.name == "The Better Shop"


@pytest.mark.parametrize("name", ["", "  ", "a\u202eb", "a\nb", "a\u200bb", "x" * 101])
def test_a_name_that_cannot_be_shown_is_refused(owner: User, account: Account, name: str) -> None:
    answer = signed_in(owner).post("/accounts/account/rename/", {"name": name})
    assert b"errorlist" in answer.content
    account.refresh_from_db()
    assert account.name == "The Shop"


def test_markup_in_a_name_stays_text(owner: User) -> None:
    client = signed_in(owner)
    client.post("/accounts/account/rename/", {"name": "<script>alert(1)</script>"})
    assert b"<script>alert" not in client.get("/accounts/team/").content


def test_the_export_holds_what_the_account_holds(owner: User, account: Account) -> None:
    answer = signed_in(owner).post("/accounts/account/export/")
    export = json.loads(answer.content)
    assert (
        answer.headers["Content-Disposition"] == f'attachment; filename="{account.public_id}.json"'
    )
    assert export["account"]["name"] == "The Shop"
    assert export["members"][0]["email"] == owner.email
    assert "account.exported" in [entry["action"] for entry in export["audit_log"]]


def test_upper_floors_add_their_sections_to_the_export(
    account: Account, owner: User, settings: Settings
) -> None:
    settings.ON_ACCOUNT_EXPORTED = ["tests.accounts.test_account_life.export_keys"]
    assert services.export_account(account=account, actor=owner)["keys"] == [account.public_id]


def export_keys(account: Account) -> dict[str, list[str]]:
    return {"keys": [account.public_id]}


def test_closing_asks_for_the_name(owner: User, account: Account) -> None:
    client = signed_in(owner)
    client.post("/accounts/account/close/", {"name": "the shop"})
    account.refresh_from_db()
    assert account.is_open
    client.post("/accounts/account/close/", {"name": "The Shop"})
    account.refresh_from_db()
    assert not account.is_open


def test_nobody_of_a_closed_account_is_signed_in_or_can_sign_in(
    owner: User, account: Account
) -> None:
    developer = make_member(account, Role.DEVELOPER)
    sessions = [signed_in(owner), signed_in(developer)]
    close(account, owner)
    assert not Session.objects.exists()
    for client in sessions:
        assert client.get("/validation/").status_code == 302
    answer = Client().post("/accounts/login/", {"login": owner.email, "password": PASSWORD})
    assert answer.headers["Location"] == "/accounts/account/closed/"


def test_a_wrong_password_does_not_tell_that_the_account_is_closed(
    owner: User, account: Account
) -> None:
    close(account, owner)
    answer = Client().post("/accounts/login/", {"login": owner.email, "password": "wrong"})
    assert answer.status_code == 200


def test_who_has_another_account_goes_on_there(
    owner: User, account: Account, stranger: User
) -> None:
    Membership.objects.create(account=account, user=stranger, role=Role.ADMIN)
    client = signed_in(stranger)
    client.post("/accounts/account/switch/", {"account": account.public_id})
    close(account, owner)
    assert b"Elsewhere" in client.get("/validation/").content


def test_the_owners_get_a_mail_that_names_the_day_of_erasure(owner: User, account: Account) -> None:
    close(account, owner)
    last_day = timezone.now() + timedelta(days=30)
    assert f"{last_day:%-d %b %Y}" in Mail.objects.get(to=owner.email).text


def test_closing_tells_the_upper_floors_once(
    owner: User, account: Account, settings: Settings
) -> None:
    settings.ON_ACCOUNT_CLOSED = ["tests.accounts.test_account_life.note_closing"]
    close(account, owner)
    close(account, owner)
    assert AuditEntry.objects.filter(action="test.told").count() == 1


def note_closing(account: Account, actor: User) -> None:
    AuditEntry.objects.create(account=account, actor=actor, action="test.told")


def test_a_reopened_account_works_again(owner: User, account: Account, staff: User) -> None:
    close(account, owner)
    services.reopen_account(account=account, actor=staff)
    assert signed_in(owner).get("/validation/").status_code == 200


def test_after_thirty_days_the_personal_data_is_gone(owner: User, account: Account) -> None:
    make_member(account, Role.VIEWER)
    close(account, owner, days_ago=31)
    retention.erase_closed_accounts()
    retention.erase_closed_accounts()
    account.refresh_from_db()
    assert account.name == "Closed account"
    assert not User.objects.exists()
    assert not AuditEntry.objects.exists()
    assert not Mail.objects.exists()


def test_before_that_nothing_is_erased(owner: User, account: Account) -> None:
    close(account, owner, days_ago=29)
    retention.erase_closed_accounts()
    assert User.objects.filter(pk=owner.pk).exists()


def test_an_erased_account_cannot_be_reopened(owner: User, account: Account, staff: User) -> None:
    close(account, owner, days_ago=31)
    retention.erase_closed_accounts()
    services.reopen_account(account=account, actor=staff)
    account.refresh_from_db()
    assert not account.is_open


def test_an_account_reopened_while_the_work_is_done_is_not_erased(
    owner: User, account: Account, staff: User
) -> None:
    close(account, owner, days_ago=31)
    due = list(Account.objects.due_for_erasure())
    services.reopen_account(account=account, actor=staff)
    retention.erase_account(account=due[0])
    account.refresh_from_db()
    assert (account.name, account.erased_at) == ("The Shop", None)


def test_an_erased_person_leaves_no_trace_in_other_accounts(
    owner: User, account: Account, stranger: User
) -> None:
    elsewhere = stranger.memberships.get().account
    team.invite_member(account=elsewhere, email=owner.email, role=Role.VIEWER, actor=stranger)
    AuditEntry.objects.create(actor=owner, actor_name=owner.email, action="x", ip="192.0.2.1")
    close(account, owner, days_ago=31)
    retention.erase_closed_accounts()
    kept = AuditEntry.objects.values_list("actor_name", "target", "ip")
    assert not [entry for entry in kept if owner.email in entry or "192.0.2.1" in entry]
    assert not Invitation.objects.exists()


def test_a_switched_off_user_is_not_told_of_a_closing(owner: User) -> None:
    User.objects.update(is_active=False)
    answer = Client().post("/accounts/login/", {"login": owner.email, "password": PASSWORD})
    assert b"was switched off" in Client().get(answer.headers["Location"]).content


def test_one_person_owns_five_accounts_at_most(owner: User) -> None:
    client = signed_in(owner)
    for number in range(5):
        answer = client.post("/accounts/account/open/", {"name": f"Another {number}"})
    assert b"the most one may" in answer.content
    assert owner.memberships.count() == 5


def test_who_belongs_elsewhere_too_is_not_erased(
    owner: User, account: Account, stranger: User
) -> None:
    Membership.objects.create(account=account, user=stranger, role=Role.VIEWER)
    close(account, owner, days_ago=31)
    retention.erase_closed_accounts()
    assert list(User.objects.all()) == [stranger]


def test_an_expired_session_leaves_no_trace_of_its_browser(owner: User) -> None:
    signed_in(owner)
    signed_in(owner)
    long_ago = timezone.now() - timedelta(days=15)
    UserSession.objects.update(created_at=long_ago)
    expired = UserSession.objects.earliest("pk")
    Session.objects.filter(session_key=expired.session_key).update(expire_date=long_ago)
    retention.delete_expired_sessions()
    assert UserSession.objects.get() != expired


def test_a_sign_up_that_was_never_confirmed_frees_its_address() -> None:
    long_ago = timezone.now() - timedelta(days=8)
    forgotten = User.objects.create_user("forgot@shop.example", PASSWORD, date_joined=long_ago)
    services.open_account(user=forgotten)
    make_user("kept@shop.example", date_joined=long_ago)
    retention.delete_unconfirmed_users()
    assert list(User.objects.values_list("email", flat=True)) == ["kept@shop.example"]
    assert not Account.objects.exists()
