"""Types of requests after the middleware has run."""

from typing import TYPE_CHECKING

from runtime.http.request import IdentifiedRequest

if TYPE_CHECKING:
    from accounts.models import Account, Membership, User


class SiteRequest(IdentifiedRequest):
    # Set on the page of a password reset link.
    password_reset_user: "User"
    account: "Account | None"
    membership: "Membership | None"
    memberships: "list[Membership]"
    # Loaded from the database already, unlike `user`. Error pages use it.
    signed_in_user: "User | None"
    # The account requires a second factor that this member doesn't have.
    must_add_factor: bool
    # The page to open once the required factor is set up, or nothing.
    continue_to: str


class AccountRequest(SiteRequest):
    """A request of a signed-in user in an open account. `require_permission` guarantees this."""

    user: "User"
    account: "Account"
    membership: "Membership"
