"""What staff find of people and accounts from the one box of the admin."""

from typing import Any

from django.db.models import BooleanField, ExpressionWrapper, Q

from accounts.models import Account, User
from accounts.staff.panels import (
    MAX_ROWS,
    Findings,
    Hit,
    Link,
    link_to,
    require_staff_permissions,
    usage_of,
)


@require_staff_permissions("accounts.view_account")
def find_accounts(text: str) -> Findings:
    exact = Q(public_id=text) | Q(name__iexact=text)
    found = Account.objects.filter(exact | Q(name__icontains=text)).annotate(is_exact=_is(exact))
    # What was asked for comes first, however many are like it.
    accounts: list[Any] = list(found.order_by("-is_exact", "name", "pk")[:MAX_ROWS])
    return Findings(
        "Accounts",
        [
            Hit(link_to(account), _state(account), [usage_of(account)], account.is_exact)
            for account in accounts
        ],
    )


@require_staff_permissions("accounts.view_user", "accounts.view_account")
def find_users(text: str) -> Findings:
    exact = Q(email=text.lower())
    like = Q(email__icontains=text) | Q(name__icontains=text)
    found = User.objects.filter(like).annotate(is_exact=_is(exact))
    users: Any = found.order_by("-is_exact", "email").prefetch_related("memberships__account")[
        :MAX_ROWS
    ]
    return Findings(
        "Users", [Hit(link_to(user), user.name, _accounts(user), user.is_exact) for user in users]
    )


def _accounts(user: User) -> list[Link]:
    return [link_to(membership.account) for membership in user.memberships.all()]


def _state(account: Account) -> str:
    if account.closed_at:
        return f"{account.public_id}, closed"
    return f"{account.public_id}, suspended" if account.suspended_at else account.public_id


def _is(condition: Q) -> "ExpressionWrapper[Q]":
    return ExpressionWrapper(condition, output_field=BooleanField())
