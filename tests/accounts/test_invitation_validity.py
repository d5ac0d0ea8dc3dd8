"""An invitation is valid as long as its inviter may still assign its role."""

from collections.abc import Callable

import pytest
from django.test import Client

from accounts import team
from accounts.models import Account, AuditEntry, Invitation, Membership, User
from accounts.roles import Role
from accounts.services import open_account
from runtime.http.refusals import Refused
from tests.conftest import PASSWORD, make_member, make_user
from tests.support.fresh_database import run_concurrently
from tests.support.received_email import path_in_email

INVITED = "new@shop.example"
# What an owner or the inviter does in the dashboard, and what staff or erasure do.
CHANGES: dict[str, Callable[[Membership, User], object]] = {
    "removed": lambda one, owner: team.remove_member(membership=one, actor=owner),
    "left": lambda one, owner: team.remove_member(membership=one, actor=one.user),
    "demoted": lambda one, owner: team.change_role(
        membership=one, role=Role.DEVELOPER, actor=owner
    ),
}
SILENT_CHANGES: dict[str, Callable[[User], object]] = {
    "role": lambda user: user.memberships.update(role=Role.VIEWER),
    "membership": lambda user: user.memberships.all().delete(),
    "deactivated": lambda user: User.objects.filter(pk=user.pk).update(is_active=False),
    "deleted": lambda user: User.objects.filter(pk=user.pk).delete(),
}


@pytest.fixture
def admin(account: Account) -> User:
    return make_member(account, Role.ADMIN)


def invite(account: Account, actor: User, role: Role, email: str = INVITED) -> Invitation:
    return team.invite_member(account=account, email=email, role=role, actor=actor)


@pytest.mark.anywhere
@pytest.mark.django_db
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_removed_or_demoted_inviter_loses_their_pending_invitations(
    account: Account, owner: User, admin: User, change: Callable[[Membership, User], object]
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
    team.remove_member(membership=account.memberships.get(user=admin), actor=owner)
    assert Invitation.objects.filter(pk=invitation.pk).exists()
    assert account.memberships.filter(user__email=INVITED).exists()


@pytest.mark.anywhere
@pytest.mark.django_db
@pytest.mark.parametrize("change", SILENT_CHANGES.values(), ids=SILENT_CHANGES)
def test_invitation_is_checked_again_when_it_is_used(
    account: Account, admin: User, change: Callable[[User], object]
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
    with pytest.raises(Refused, match="no longer valid"):
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
    assert joined or isinstance(accepted, Refused)
    assert not Invitation.objects.pending().exists()
