"""What the team page, invitations, and pages about membership say."""

import pytest

from accounts.models import Account, Invitation, Membership, User
from accounts.presenters.team import (
    describe_removal,
    invitation_lead,
    member_rows,
    open_account_head,
)
from accounts.roles import Role, roles_assignable_by

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


def test_removing_a_member_and_leaving_read_differently() -> None:
    removal = describe_removal(VIEWER, is_leaving=False)
    assert (removal.head.title, removal.action) == ("Remove vic@shop.example?", "Remove member")
    assert "They'll lose access to The Shop immediately" in removal.head.intro
    leaving = describe_removal(OWNER, is_leaving=True)
    assert (leaving.head.title, leaving.action) == ("Leave The Shop?", "Leave account")
    assert leaving.head.intro == "You'll need a new invitation to come back."


def test_invitation_names_its_inviter_unless_that_user_was_deleted() -> None:
    assert invitation_lead(Invitation(invited_by=OLIVE)) == "Olive invited you to join"
    assert invitation_lead(Invitation()) == "You're invited to join"


def test_first_and_further_accounts_are_introduced_differently() -> None:
    assert open_account_head(None).title == "Open an account"
    assert "ask a colleague for an invitation" in open_account_head(None).intro
    assert open_account_head(SHOP).title == "Open another account"
