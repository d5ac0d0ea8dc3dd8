"""Find accounts and users for the staff search."""

from typing import Any

from django.db.models import BooleanField, ExpressionWrapper, Q

from accounts.models import Account, User
from accounts.staff.panels import (
    MAX_ROWS,
    Hit,
    Link,
    SearchResults,
    admin_link,
    require_staff_permissions,
    usage_link,
)


@require_staff_permissions("accounts.view_account")
def find_accounts(text: str) -> SearchResults:
    exact = Q(public_id=text) | Q(name__iexact=text)
    matches = Account.objects.filter(exact | Q(name__icontains=text)).annotate(
        is_exact=_as_boolean(exact)
    )
    # Exact matches come first, so that the row limit never cuts them off.
    accounts: list[Any] = list(matches.order_by("-is_exact", "name", "pk")[:MAX_ROWS])
    return SearchResults(
        "Accounts",
        [
            Hit(
                admin_link(account),
                _describe(account),
                [usage_link(account)],
                account.is_exact,
            )
            for account in accounts
        ],
    )


@require_staff_permissions("accounts.view_user", "accounts.view_account")
def find_users(text: str) -> SearchResults:
    exact = Q(email=text.lower())
    similar = Q(email__icontains=text) | Q(name__icontains=text)
    matches = User.objects.filter(similar).annotate(is_exact=_as_boolean(exact))
    users = matches.order_by("-is_exact", "email").prefetch_related("memberships__account")
    return SearchResults(
        "Users",
        [
            Hit(admin_link(user), user.name, _account_links(user), user.is_exact)
            for user in users[:MAX_ROWS]
        ],
    )


def _account_links(user: User) -> list[Link]:
    return [admin_link(membership.account) for membership in user.memberships.all()]


def _describe(account: Account) -> str:
    if account.closed_at:
        return f"{account.public_id}, closed"
    return f"{account.public_id}, suspended" if account.suspended_at else account.public_id


def _as_boolean(condition: Q) -> "ExpressionWrapper[Q]":
    return ExpressionWrapper(condition, output_field=BooleanField())
