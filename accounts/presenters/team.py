"""Team page, invitations, and what members read before they open or leave an account. Pure."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from accounts.models import Account, Invitation, Membership
from accounts.presenters.elements import PageHead
from accounts.roles import Role


@dataclass(frozen=True)
class MemberRow:
    membership: Membership
    is_viewer: bool
    may_change_role: bool

    @property
    def removal_label(self) -> str:
        """Return the link to leave or to remove this member, or nothing if the viewer may not."""
        if self.is_viewer:
            return "Leave"
        return "Remove" if self.may_change_role else ""


def member_rows(
    members: Iterable[Membership], viewer: Membership, assignable_roles: Collection[Role]
) -> list[MemberRow]:
    """Return the rows of the team as one member sees them, who may assign some of the roles."""
    return [
        MemberRow(
            member,
            is_viewer=member.pk == viewer.pk,
            may_change_role=member.role in assignable_roles,
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


def open_account_head(current: Account | None) -> PageHead:
    if current:
        intro = "Each account has its own team and settings. Switch accounts at the top left."
        return PageHead("Open another account", intro)
    intro = "You don't belong to an account. Open one, or ask a colleague for an invitation."
    return PageHead("Open an account", intro)
