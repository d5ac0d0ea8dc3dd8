from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts import services, team
from accounts.models import Account, Invitation, Membership, User
from accounts.presenters.team import member_rows
from accounts.roles import Role, roles_assignable_by
from runtime.http.refusals import Refused
from runtime.models import Mail
from tests.conftest import PASSWORD, make_member, make_user, signed_in
from tests.support.log_records import LogCapture
from tests.support.received_email import path_in_email

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def invite(account: Account, owner: User, email: str = "new@shop.example") -> str:
    team.invite_member(account=account, email=email, role=Role.DEVELOPER, actor=owner)
    return path_in_email("/accounts/invitations/")


def test_invitation_link_allows_sign_up_without_a_code_and_joining(
    account: Account, owner: User
) -> None:
    path = invite(account, owner)
    client = Client()
    client.get(path)
    sign_up = {"email": "new@shop.example", "password1": PASSWORD, "next": path}
    # The link confirmed the address, so no code is required.
    assert client.post("/accounts/signup/", sign_up).headers["Location"] == path
    client.post(path)
    memberships = Membership.objects.filter(user__email="new@shop.example")
    assert [(m.account, m.role) for m in memberships] == [(account, Role.DEVELOPER)]


def test_existing_user_joins_and_keeps_their_own_account(
    account: Account, owner: User, stranger: User
) -> None:
    path = invite(account, owner, stranger.email)
    client = signed_in(stranger)
    client.post(path)
    assert stranger.memberships.count() == 2
    assert b"The Shop" in client.get("/validation/").content


def test_invitation_link_works_only_for_the_invited_address(
    account: Account, owner: User, stranger: User
) -> None:
    path = invite(account, owner)
    response = signed_in(stranger).post(path)
    assert b"but you're signed in as" in response.content
    assert not account.memberships.filter(user=stranger).exists()


def test_sign_up_with_another_address_still_requires_a_code(account: Account, owner: User) -> None:
    client = Client()
    client.get(invite(account, owner))
    client.post("/accounts/signup/", {"email": "other@shop.example", "password1": PASSWORD})
    assert client.get("/validation/").status_code == 302


@pytest.mark.parametrize("reason", ["used", "withdrawn", "expired", "replaced", "unknown"])
def test_invalid_invitation_link_shows_why(account: Account, owner: User, reason: str) -> None:
    path = invite(account, owner)
    invitation = Invitation.objects.get()
    if reason == "used":
        team.accept_invitation(invitation=invitation, user=make_user("new@shop.example"))
    elif reason == "withdrawn":
        team.withdraw_invitation(invitation=invitation, actor=owner)
    elif reason == "expired":
        Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif reason == "replaced":
        invite(account, owner)
    else:
        path = f"/accounts/invitations/{'x' * 43}/"
    response = Client().get(path)
    assert response.status_code == 404
    assert b"no longer valid" in response.content


def test_repeated_invitation_replaces_the_first_and_members_cannot_be_invited(
    account: Account, owner: User
) -> None:
    invite(account, owner)
    invite(account, owner)
    assert Invitation.objects.pending().count() == 1
    with pytest.raises(Refused, match="already a member of this account"):
        invite(account, owner, owner.email)


def test_account_has_at_most_twenty_pending_invitations(account: Account, owner: User) -> None:
    for number in range(20):
        invite(account, owner, f"new{number}@shop.example")
    with pytest.raises(Refused, match="Withdraw one first"):
        invite(account, owner, "one.more@shop.example")


def test_user_sends_at_most_fifty_invitations_per_day(account: Account, owner: User) -> None:
    for _ in range(50):
        invite(account, owner)
    with pytest.raises(Refused, match="Try again tomorrow"):
        invite(account, owner)


@pytest.mark.parametrize("change", ["demote", "remove", "leave"])
def test_last_owner_cannot_leave_or_be_demoted(account: Account, owner: User, change: str) -> None:
    membership = account.memberships.get()
    client = signed_in(owner)
    page = f"/accounts/team/members/{membership.public_id}/"
    if change == "demote":
        client.post(f"{page}role/", {"role": "viewer"})
    else:
        client.post(f"{page}remove/")
    assert b"An account needs an owner" in client.get("/accounts/team/").content
    assert account.memberships.get().role == Role.OWNER


def test_owner_can_leave_if_another_owner_remains(account: Account, owner: User) -> None:
    make_member(account, Role.OWNER)
    membership = account.memberships.get(user=owner)
    client = signed_in(owner)
    client.post(f"/accounts/team/members/{membership.public_id}/remove/")
    assert client.get("/validation/").headers["Location"] == "/accounts/account/open/"


def test_admin_can_neither_promote_nor_demote_owners(account: Account, owner: User) -> None:
    client = signed_in(make_member(account, Role.ADMIN))
    viewer = make_member(account, Role.VIEWER).memberships.get()
    owner_membership = account.memberships.get(user=owner)
    for membership, role in ((viewer, "owner"), (owner_membership, "viewer")):
        page = f"/accounts/team/members/{membership.public_id}/role/"
        assert client.post(page, {"role": role}).status_code == 403
    page = f"/accounts/team/members/{owner_membership.public_id}/remove/"
    assert client.post(page).status_code == 403
    invitation = {"email": "new@shop.example", "role": "owner"}
    assert client.post("/accounts/team/invite/", invitation).status_code == 403


def test_current_role_counts_instead_of_the_displayed_one(account: Account, owner: User) -> None:
    displayed = make_member(account, Role.VIEWER).memberships.get()
    Membership.objects.filter(pk=displayed.pk).update(role=Role.OWNER)
    team.remove_member(membership=account.memberships.get(user=owner), actor=owner)
    with pytest.raises(Refused, match="needs an owner"):
        team.change_role(membership=displayed, role=Role.DEVELOPER, actor=displayed.user)
    with pytest.raises(Refused, match="needs an owner"):
        team.remove_member(membership=displayed, actor=displayed.user)


def test_change_of_a_removed_member_is_refused_by_name(account: Account, owner: User) -> None:
    member = make_member(account, Role.VIEWER).memberships.get()
    client = signed_in(owner)
    page = f"/accounts/team/members/{member.public_id}/"
    team.remove_member(membership=member, actor=owner)
    assert client.post(f"{page}role/", {"role": "admin"}).status_code == 404
    with pytest.raises(Refused, match="no longer a member of this account"):
        team.remove_member(membership=member, actor=owner)


def test_closed_account_can_neither_invite_nor_be_joined(account: Account, owner: User) -> None:
    path = invite(account, owner)
    invitation = Invitation.objects.get()
    services.close_account(account=account, actor=owner)
    with pytest.raises(Refused, match="closed"):
        invite(account, owner, "another@shop.example")
    with pytest.raises(Refused, match="closed"):
        team.accept_invitation(invitation=invitation, user=make_user("new@shop.example"))
    assert Client().get(path).status_code == 404


def test_link_of_a_withdrawn_invitation_does_not_confirm_the_address(
    account: Account, owner: User
) -> None:
    client = Client()
    client.get(invite(account, owner))
    team.withdraw_invitation(invitation=Invitation.objects.get(), actor=owner)
    client.post("/accounts/signup/", {"email": "new@shop.example", "password1": PASSWORD})
    assert client.get("/validation/").status_code == 302
    assert Membership.objects.get(user__email="new@shop.example").role == Role.OWNER


def test_invitation_token_is_neither_logged_nor_stored(
    account: Account, owner: User, records: LogCapture
) -> None:
    path = invite(account, owner)
    Client().put(path)
    (record,) = records.access_records()
    assert record["route"] == "/accounts/invitations/<token:token>/"
    token = path.split("/")[-2]
    assert token not in records.text
    assert token not in Invitation.objects.get().token


def test_removed_member_loses_access_on_the_next_request(account: Account, owner: User) -> None:
    member = make_member(account, Role.DEVELOPER)
    client = signed_in(member)
    team.remove_member(membership=member.memberships.get(), actor=owner)
    assert client.get("/accounts/team/").headers["Location"] == "/accounts/account/open/"
    assert Mail.objects.latest("pk").to == member.email


def test_only_members_of_two_accounts_can_switch(account: Account, stranger: User) -> None:
    client = signed_in(stranger)

    def current() -> str:
        client.post("/accounts/account/switch/", {"account": account.public_id})
        return client.get("/accounts/team/").content.decode().partition("</summary>")[0]

    assert ">Elsewhere</span>" in current()
    Membership.objects.create(account=account, user=stranger, role=Role.VIEWER)
    assert ">The Shop</span>" in current()


SHOP = Account(name="The Shop")
OLIVE = User(email="olive@shop.example", name="Olive")
OWNER = Membership(pk=1, account=SHOP, user=OLIVE, role=Role.OWNER)
ADMIN = Membership(pk=2, account=SHOP, user=User(email="ada@shop.example"), role=Role.ADMIN)
VIEWER = Membership(pk=3, account=SHOP, user=User(email="vic@shop.example"), role=Role.VIEWER)


@pytest.mark.parametrize(
    ("viewer", "labels"),
    [
        (OWNER, ["Leave", "Remove", "Remove"]),
        (ADMIN, ["", "Leave", "Remove"]),
        (VIEWER, ["", "", "Leave"]),
    ],
)
def test_members_are_removed_by_those_who_may_assign_their_role(
    viewer: Membership, labels: list[str]
) -> None:
    rows = member_rows([OWNER, ADMIN, VIEWER], viewer, roles_assignable_by(Role(viewer.role)))
    assert [row.removal_label for row in rows] == labels
    assert [row.membership for row in rows if row.is_viewer] == [viewer]
