"""A request as our middleware leaves it."""

from typing import TYPE_CHECKING

from runtime.http.request import IdentifiedRequest

if TYPE_CHECKING:
    from accounts.models import Account, Membership, User


class SiteRequest(IdentifiedRequest):
    # Set on the page of a reset link.
    has_reset_password: "User"
    account: "Account | None"
    membership: "Membership | None"
    memberships: "list[Membership]"


class AccountRequest(SiteRequest):
    """What a view of an account gets: a signed-in user in an open account."""

    user: "User"
    account: "Account"
    membership: "Membership"
