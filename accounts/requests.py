"""A request as our middleware leaves it."""

from typing import TYPE_CHECKING

from django.http import HttpRequest

if TYPE_CHECKING:
    from accounts.models import Account, Membership, User


class SiteRequest(HttpRequest):
    id: str
    ip: str
    # The code of the refusal, for the log.
    refusal: str
    # Set on the page of a reset link.
    has_reset_password: "User"
    # The record of it is there already.
    is_told: bool
    account: "Account | None"
    membership: "Membership | None"
    memberships: "list[Membership]"


class AccountRequest(SiteRequest):
    """What a view of an account gets: a signed-in user in an open account."""

    user: "User"
    account: "Account"
    membership: "Membership"
