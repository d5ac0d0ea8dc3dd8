from typing import Any

from django.db.models import Q

from accounts.models import Account, User
from accounts.staff.links import account_link, admin_link
from accounts.staff.panels import MAX_ROWS, Hit, SearchResults, require_staff_permissions


@require_staff_permissions("accounts.view_account")
def find_accounts(text: str) -> SearchResults:
    exact = Q(public_id=text) | Q(name__iexact=text)
    matches = Account.objects.filter(exact | Q(name__icontains=text)).annotate(is_exact=exact)
    # Exact matches first, before the limit cuts the rest off.
    accounts: list[Any] = list(matches.order_by("-is_exact", "name", "pk")[:MAX_ROWS])
    return SearchResults(
        "Accounts",
        [
            Hit(
                account_link(account),
                account.public_id
                + ("" if account.state == "Open" else f", {account.state.lower()}"),
                [],
                account.is_exact,
            )
            for account in accounts
        ],
    )


@require_staff_permissions("accounts.view_user", "accounts.view_account")
def find_users(text: str) -> SearchResults:
    exact = Q(email=text.lower())
    similar = Q(email__icontains=text) | Q(name__icontains=text)
    matches = User.objects.filter(similar).annotate(is_exact=exact)
    users = matches.order_by("-is_exact", "email").prefetch_related("memberships__account")
    return SearchResults(
        "Users",
        [
            Hit(
                admin_link(user),
                user.name,
                [account_link(membership.account) for membership in user.memberships.all()],
                user.is_exact,
            )
            for user in users[:MAX_ROWS]
        ],
    )
