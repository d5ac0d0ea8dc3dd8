"""Staff take no staff action on an account they are a member of, whatever their role or rights.

Every staff action asks here, not the services: the same services serve members on their own pages.
"""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet

from accounts.models import Account, User

REFUSAL = (
    "You are a member of this account, so you can't take staff actions on it. "
    "Ask a colleague who isn't a member."
)


def refusal_for(user: User, row: Any) -> str:
    """Returns why `user` can't act on an account, or a row that belongs to one. Empty if they can.

    Rows that belong to no account are open to everyone with the permission.
    """
    account: Account | None = row if isinstance(row, Account) else getattr(row, "account", None)
    is_own = account is not None and user.memberships.filter(account=account).exists()
    return REFUSAL if is_own else ""


def without_own(
    model_admin: "admin.ModelAdmin[Any]", request: Any, rows: QuerySet[Any], account: str
) -> QuerySet[Any]:
    """Leaves out selected rows of the user's own accounts, and shows a message that names them.

    `account` is the column that holds the account.
    """
    own = {f"{account}__in": request.user.memberships.values("account")}
    left_out = ", ".join(str(row) for row in rows.filter(**own))
    if left_out:
        model_admin.message_user(request, f"Skipped {left_out}. {REFUSAL}", messages.ERROR)
    return rows.exclude(**own)
