from typing import TYPE_CHECKING

from runtime.http.request import IdentifiedRequest

if TYPE_CHECKING:
    from accounts.models import Account, Membership, User


class SiteRequest(IdentifiedRequest):
    # Set when a password is reset.
    password_reset_user: "User"
    account: "Account | None"
    membership: "Membership | None"
    memberships: "list[Membership]"
    # Unlike `user`, loaded already, for error pages.
    signed_in_user: "User | None"
    # The account requires a second factor, and the member has none.
    must_add_factor: bool
    continue_to: str


class SignedInRequest(SiteRequest):
    """A request to a view without `login_not_required`."""

    user: "User"


class AccountRequest(SignedInRequest):
    """A request that has passed `require_permission`."""

    account: "Account"
    membership: "Membership"
