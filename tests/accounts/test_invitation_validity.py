"""An invitation is valid as long as its inviter may still assign its role."""

from collections.abc import Callable

import pytest
from django.test import Client

from accounts import team
from accounts.models import Account, AuditEntry, Invitation, Membership, User
from accounts.roles import Role
from accounts.services import open_account
from tests.conftest import PASSWORD, make_member, make_user
from tests.support.fresh_database import run_concurrently
from tests.support.received_email import path_in_email

INVITED = "new@shop.example"


@pytest.fixture
def admin(account: Account) -> User:
    return make_member(account, Role.ADMIN)


def invite(account: Account, actor: User, role: Role, email: str = INVITED) -> Invitation:
    return team.invite_member(account=account, email=email, role=role, actor=actor)


def remove(membership: Membership, owner: User) -> None:
    team.remove_member(membership=membership, actor=owner)


def leave(membership: Membership, owner: User) -> None:
    team.remove_member(membership=membership, actor=membership.user)


def demote(membership: Membership, owner: User) -> None:
    team.change_role(membership=membership, role=Role.DEVELOPER, actor=owner)


@pytest.mark.django_db
@pytest.mark.parametrize("change", [remove, leave, demote])
def test_removed_or_demoted_inviter_loses_their_pending_invitations(
    account: Account, owner: User, admin: User, change: Callable[[Membership, User], None]
) -> None:
    invite(account, owner, Role.VIEWER, "invited.by.owner@shop.example")
    invite(account, admin, Role.VIEWER)
    path = path_in_email("/accounts/invitations/")
    change(account.memberships.get(user=admin), owner)
    remaining = Invitation.objects.pending().get()
    assert remaining.email == "invited.by.owner@shop.example"
    entry = AuditEntry.objects.get(action="invitation.withdrawn")
    assert (entry.target, entry.account) == (INVITED, account)
    assert Client().get(path).status_code == 404


@pytest.mark.django_db
def test_owner_demoted_to_admin_keeps_invitations_an_admin_may_send(
    account: Account, owner: User
) -> None:
    second = make_member(account, Role.OWNER)
    invite(account, second, Role.OWNER, "owner2@shop.example")
    invite(account, second, Role.VIEWER, "viewer@shop.example")
    membership = account.memberships.get(user=second)
    team.change_role(membership=membership, role=Role.ADMIN, actor=owner)
    assert Invitation.objects.get().email == "viewer@shop.example"


@pytest.mark.django_db
def test_accepted_invitation_outlives_its_inviter(
    account: Account, owner: User, admin: User
) -> None:
    invitation = invite(account, admin, Role.VIEWER)
    team.accept_invitation(invitation=invitation, user=make_user(INVITED))
    remove(account.memberships.get(user=admin), owner)
    assert Invitation.objects.filter(pk=invitation.pk).exists()
    assert account.memberships.filter(user__email=INVITED).exists()


def lose_the_role(admin: User) -> None:
    Membership.objects.filter(user=admin).update(role=Role.VIEWER)


def lose_the_membership(admin: User) -> None:
    Membership.objects.filter(user=admin).delete()


def be_deactivated(admin: User) -> None:
    User.objects.filter(pk=admin.pk).update(is_active=False)


def be_deleted(admin: User) -> None:
    User.objects.filter(pk=admin.pk).delete()


@pytest.mark.django_db
@pytest.mark.parametrize("change", [lose_the_role, lose_the_membership, be_deactivated, be_deleted])
def test_invitation_is_checked_again_when_it_is_used(
    account: Account, admin: User, change: Callable[[User], None]
) -> None:
    """Staff and erasure change users without withdrawing their invitations."""
    invitation = invite(account, admin, Role.DEVELOPER)
    path = path_in_email("/accounts/invitations/")
    browser = Client()
    browser.get(path)
    change(admin)
    assert Client().get(path).status_code == 404
    # The link doesn't confirm the address for the sign-up either.
    browser.post("/accounts/signup/", {"email": INVITED, "password1": PASSWORD})
    assert browser.get("/validation/").status_code == 302
    with pytest.raises(team.TeamError, match="no longer valid"):
        team.accept_invitation(invitation=invitation, user=User.objects.get(email=INVITED))
    assert not account.memberships.filter(user__email=INVITED).exists()


@pytest.mark.usefixtures("fresh_database")
def test_invitation_accepted_while_its_inviter_is_removed_either_counts_or_is_refused() -> None:
    owner = make_user("owner@shop.example")
    account = open_account(user=owner, name="The Shop")
    admin = make_member(account, Role.ADMIN)
    invitation, invited = invite(account, admin, Role.VIEWER), make_user(INVITED)
    actions: list[Callable[[], object]] = [
        lambda: team.accept_invitation(invitation=invitation, user=invited),
        lambda: team.remove_member(membership=account.memberships.get(user=admin), actor=owner),
    ]
    accepted, _ = run_concurrently(2, lambda number: actions[number]())
    joined = account.memberships.filter(user=invited).exists()
    assert joined == isinstance(accepted, Membership)
    assert joined or isinstance(accepted, team.TeamError)
    assert not Invitation.objects.pending().exists()
