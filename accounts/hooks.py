from typing import Protocol

from accounts.models import Account, User
from runtime.hooks import Hook


class AccountClosed(Protocol):
    def __call__(self, *, account: Account, actor: User) -> None: ...


class AccountChanged(Protocol):
    def __call__(self, *, account: Account) -> None: ...


class UserErased(Protocol):
    def __call__(self, *, email: str) -> None:
        """Erase the address from other accounts."""


class AccountExported(Protocol):
    def __call__(self, *, account: Account) -> dict[str, object]:
        """Return sections of the export, by name."""


class EmailConfirmed(Protocol):
    def __call__(self, *, user: User, by_operator: bool) -> None:
        """Handle a confirmed address. `by_operator`: the user didn't sign up."""


on_account_opened = Hook[AccountChanged]("ON_ACCOUNT_OPENED")
on_account_closed = Hook[AccountClosed]("ON_ACCOUNT_CLOSED")
on_account_erased = Hook[AccountChanged]("ON_ACCOUNT_ERASED")
on_user_erased = Hook[UserErased]("ON_USER_ERASED")
on_account_exported = Hook[AccountExported]("ON_ACCOUNT_EXPORTED")
on_email_confirmed = Hook[EmailConfirmed]("ON_EMAIL_CONFIRMED")
