from collections.abc import Collection, Iterable
from dataclasses import dataclass

from accounts.models import Invitation, Membership, User
from accounts.presenters.elements import Badge
from accounts.roles import Role

FACTOR_OPTIONAL = (
    "You can require all members to have an authenticator app or a passkey. Members without one "
    "then can't open this account's pages until they set it up. We'll email the members. API keys "
    "keep working."
)
FACTOR_REQUIRED = (
    "All members must have an authenticator app or a passkey. Members without one can't open this "
    "account's pages until they set it up. API keys keep working."
)


@dataclass(frozen=True)
class MemberRow:
    membership: Membership
    is_viewer: bool
    may_change_role: bool
    has_no_factor: bool = False

    @property
    def removal_label(self) -> str:
        if self.is_viewer:
            return "Leave"
        return "Remove" if self.may_change_role else ""


def member_rows(
    members: Iterable[Membership],
    viewer: Membership,
    assignable_roles: Collection[Role],
    without_factor: Collection[User] = (),
) -> list[MemberRow]:
    """`without_factor` has the users to mark, if the viewer may know."""
    return [
        MemberRow(
            member,
            is_viewer=member.pk == viewer.pk,
            may_change_role=member.role in assignable_roles,
            has_no_factor=member.user in without_factor,
        )
        for member in members
    ]


def invitation_requirement(invitation: Invitation, *, has_factor: bool) -> str:
    if not invitation.account.requires_second_factor:
        return ""
    what = "This account requires a second factor: an authenticator app or a passkey."
    if has_factor:
        return f"{what} You already have one."
    # Users who aren't signed in may have one.
    return f"{what} If you don't have one yet, you'll set it up next."


@dataclass(frozen=True)
class FactorSetting:
    badge: Badge
    description: str
    members: str
    action: str
    value: str
    # Why the button is disabled.
    refusal: str = ""


def factor_setting(
    *, is_required: bool, members: int, without_factor: int, viewer_has_factor: bool
) -> FactorSetting:
    missing = _missing_factors(members, without_factor)
    if is_required:
        on = Badge("On", "deliverable", "check")
        return FactorSetting(on, FACTOR_REQUIRED, missing, "Make it optional", "no")
    refusal = "" if viewer_has_factor else "To require it of others, set up your own first."
    off = Badge("Off")
    return FactorSetting(off, FACTOR_OPTIONAL, missing, "Require a second factor", "yes", refusal)


def _missing_factors(members: int, without_factor: int) -> str:
    if members == 1:
        return "You don't have one yet." if without_factor else "You have one."
    if not without_factor:
        return f"All {members} members have one."
    verb = "don't" if without_factor > 1 else "doesn't"
    return f"{without_factor} of {members} members {verb} have one yet."
