"""Refuse staff actions on the user's own accounts, superusers included.

Services don't check this, because members use them too.
"""

from typing import TypeVar

from django.contrib import admin, messages
from django.db.models import Model, QuerySet

from accounts.models import Account, User
from accounts.staff.request import StaffRequest

Row = TypeVar("Row", bound=Model)

REFUSAL = (
    "You are a member of this account, so you can't take staff actions on it. "
    "Ask a colleague who isn't a member."
)


def own_account_refusal(user: User, row: Model) -> str:
    account = find_account(row)
    is_own = account is not None and user.memberships.filter(account=account).exists()
    return REFUSAL if is_own else ""


def find_account(row: Model) -> Account | None:
    return row if isinstance(row, Account) else getattr(row, "account", None)


def exclude_own_accounts(
    model_admin: "admin.ModelAdmin[Row]", request: StaffRequest, rows: QuerySet[Row], account: str
) -> QuerySet[Row]:
    """Exclude and name rows of the user's accounts. `account`: the column."""
    own = {f"{account}__in": request.user.memberships.values("account")}
    skipped = ", ".join(str(row) for row in rows.filter(**own))
    if skipped:
        model_admin.message_user(request, f"Skipped {skipped}. {REFUSAL}", messages.ERROR)
    return rows.exclude(**own)
