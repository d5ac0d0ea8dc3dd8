from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from django.db.models import Model
from django.urls import reverse

if TYPE_CHECKING:
    from accounts.models import Account, User

MAX_ROWS = 10

Tone = Literal["", "good", "warning", "bad"]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Link:
    text: str
    url: str


@dataclass(frozen=True)
class Cell:
    # None is shown as a dash.
    value: str | int | datetime | date | None
    url: str = ""
    tone: Tone = ""
    is_amount: bool = False

    @property
    def is_number(self) -> bool:
        return isinstance(self.value, int)

    @property
    def is_right_aligned(self) -> bool:
        return self.is_number or self.is_amount

    @property
    def is_text(self) -> bool:
        return isinstance(self.value, str) and not self.is_amount

    @property
    def is_long(self) -> bool:
        return self.is_text and len(str(self.value)) > 32


@dataclass(frozen=True)
class Fact:
    label: str
    cell: Cell
    advice: str = ""


@dataclass(frozen=True)
class Header:
    text: str
    is_right_aligned: bool


@dataclass(frozen=True)
class Panel:
    title: str
    empty: str = ""
    columns: tuple[str, ...] = ()
    rows: list[list[Cell]] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    note: str = ""
    more: Link | None = None

    @property
    def headers(self) -> list[Header]:
        return [
            Header(text, any(row[index].is_right_aligned for row in self.rows))
            for index, text in enumerate(self.columns)
        ]


@dataclass(frozen=True)
class Hit:
    link: Link
    description: str
    accounts: list[Link]
    is_exact: bool


@dataclass(frozen=True)
class SearchResults:
    kind: str
    hits: list[Hit]


def require_staff_permissions(
    *permissions: str,
) -> Callable[[Callable[..., Result]], Callable[..., Result | None]]:
    """Add a `user` argument, and return None without the permissions."""

    def decorate(build: Callable[..., Result]) -> Callable[..., Result | None]:
        @wraps(build)
        def build_if_allowed(*, user: "User", **kwargs: object) -> Result | None:
            return build(**kwargs) if user.has_perms(permissions) else None

        return build_if_allowed

    return decorate


def admin_url(row: Model) -> str:
    meta = row._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])


def admin_list_url(model: type[Model], query: str = "") -> str:
    meta = model._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist") + query


def account_admin_list_url(model: type[Model], account: "Account") -> str:
    """Filter by account with an index, which a search wouldn't use."""
    return admin_list_url(model, f"?account__id__exact={account.pk}")


def admin_link(row: Model, text: str = "") -> Link:
    return Link(text or str(row), admin_url(row))


def account_hit(row: Any, text: str, description: str) -> Hit:
    """Return what was found by its id."""
    return Hit(admin_link(row, text), description, [admin_link(row.account)], is_exact=True)


def link_cell(row: Model, text: str = "") -> Cell:
    return Cell(text or str(row), admin_url(row))


def usage_link(account: "Account", text: str = "Usage and requests") -> Link:
    return Link(text, reverse("admin:show-usage", args=[account.public_id]))


def account_cell(account: "Account") -> Cell:
    link = usage_link(account, account.name)
    return Cell(link.text, link.url)
