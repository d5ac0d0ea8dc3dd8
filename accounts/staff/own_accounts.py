"""Refuse staff actions on accounts that the acting user is a member of, superusers included.

Every staff action calls this module. The services don't, because members use the same services on
their own pages.
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
    """Return why the user can't act on an account or a row of one, or an empty string.

    Rows without an account are open to all staff with the permission.
    """
    account = find_account(row)
    is_own = account is not None and user.memberships.filter(account=account).exists()
    return REFUSAL if is_own else ""


def find_account(row: Model) -> Account | None:
    """Return the account that the row is or belongs to."""
    return row if isinstance(row, Account) else getattr(row, "account", None)


def exclude_own_accounts(
    model_admin: "admin.ModelAdmin[Row]", request: StaffRequest, rows: QuerySet[Row], account: str
) -> QuerySet[Row]:
    """Exclude rows of the user's own accounts, and show a message that names them.

    `account` is the name of the column with the account.
    """
    own = {f"{account}__in": request.user.memberships.values("account")}
    skipped = ", ".join(str(row) for row in rows.filter(**own))
    if skipped:
        model_admin.message_user(request, f"Skipped {skipped}. {REFUSAL}", messages.ERROR)
    return rows.exclude(**own)
