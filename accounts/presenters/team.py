"""Team page, invitations, and what members read before they open or leave an account. Pure."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from accounts.models import Account, Invitation, Membership, User
from accounts.presenters.elements import Badge, PageHead
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
        """Return the link to leave or to remove this member, or nothing if the viewer may not."""
        if self.is_viewer:
            return "Leave"
        return "Remove" if self.may_change_role else ""


def member_rows(
    members: Iterable[Membership],
    viewer: Membership,
    assignable_roles: Collection[Role],
    without_factor: Collection[User] = (),
) -> list[MemberRow]:
    """Return the rows of the team as one member sees them, who may assign some of the roles.

    `without_factor`: the users to mark, for viewers who may know who has a second factor.
    """
    return [
        MemberRow(
            member,
            is_viewer=member.pk == viewer.pk,
            may_change_role=member.role in assignable_roles,
            has_no_factor=member.user in without_factor,
        )
        for member in members
    ]


@dataclass(frozen=True)
class Removal:
    head: PageHead
    # On the button, and the title of the browser's window.
    action: str


def describe_removal(membership: Membership, *, is_leaving: bool) -> Removal:
    account = membership.account
    if is_leaving:
        intro = "You'll need a new invitation to come back."
        return Removal(PageHead(f"Leave {account}?", intro), "Leave account")
    name = membership.user.display_name()
    intro = f"They'll lose access to {account} immediately. We'll send them an email."
    return Removal(PageHead(f"Remove {name}?", intro), "Remove member")


def invitation_lead(invitation: Invitation) -> str:
    """Return the words before the role: `Olive invited you to join`."""
    inviter = invitation.invited_by
    return f"{inviter.display_name()} invited you to join" if inviter else "You're invited to join"


def invitation_requirement(invitation: Invitation, *, has_factor: bool) -> str:
    """Return what an invited user reads about a required second factor, or nothing."""
    if not invitation.account.requires_second_factor:
        return ""
    what = "This account requires a second factor: an authenticator app or a passkey."
    if has_factor:
        return f"{what} You already have one."
    # Someone who isn't signed in yet may have one.
    return f"{what} If you don't have one yet, you'll set it up next."


@dataclass(frozen=True)
class FactorSetting:
    """The setting that requires a second factor, as an owner sees it."""

    badge: Badge
    description: str
    # Which members have a second factor.
    members: str
    # The button, and the value it sends.
    action: str
    value: str
    # Why the button is disabled, or nothing.
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


def open_account_head(current: Account | None) -> PageHead:
    if current:
        intro = "Each account has its own team and settings. Switch accounts at the top left."
        return PageHead("Open another account", intro)
    intro = "You don't belong to an account. Open one, or ask a colleague for an invitation."
    return PageHead("Open an account", intro)
