"""What the team page, invitations, and pages about membership say."""

import pytest

from accounts.models import Account, Membership, User
from accounts.presenters.team import factor_setting, member_rows
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


def test_owner_can_require_a_second_factor_once_they_have_one() -> None:
    without = factor_setting(
        is_required=False, members=1, without_factor=1, viewer_has_factor=False
    )
    assert (without.action, without.value) == ("Require a second factor", "yes")
    assert without.refusal == "To require it of others, set up your own first."
    having = factor_setting(is_required=False, members=1, without_factor=0, viewer_has_factor=True)
    assert (having.badge.text, having.refusal) == ("Off", "")
    required = factor_setting(is_required=True, members=1, without_factor=0, viewer_has_factor=True)
    assert (required.badge.text, required.action, required.value) == (
        "On",
        "Make it optional",
        "no",
    )


@pytest.mark.parametrize(
    ("members", "without_factor", "text"),
    [
        (1, 1, "You don't have one yet."),
        (1, 0, "You have one."),
        (5, 0, "All 5 members have one."),
        (5, 1, "1 of 5 members doesn't have one yet."),
        (5, 2, "2 of 5 members don't have one yet."),
    ],
)
def test_owner_reads_how_many_members_have_no_second_factor(
    members: int, without_factor: int, text: str
) -> None:
    counts = {"members": members, "without_factor": without_factor}
    shown = factor_setting(is_required=True, viewer_has_factor=without_factor < members, **counts)
    assert shown.members == text
