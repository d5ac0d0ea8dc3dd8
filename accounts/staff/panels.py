"""What pages of the staff are made of. Each floor tells its own part, and the roof draws them all.

A panel answers one question; findings are what a search found of one kind.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from django.db.models import Model
from django.urls import reverse

if TYPE_CHECKING:
    from accounts.models import Account, User

# Rows of a panel on the front page, and hits of a kind.
MAX_ROWS = 10

Tone = Literal["", "good", "warning", "bad"]
Told = TypeVar("Told")


@dataclass(frozen=True)
class Link:
    words: str
    url: str


@dataclass(frozen=True)
class Cell:
    # None is drawn as a dash.
    value: str | int | datetime | date | None
    url: str = ""
    tone: Tone = ""
    # A number in words: money.
    is_amount: bool = False

    @property
    def is_number(self) -> bool:
        return isinstance(self.value, int)

    @property
    def stands_right(self) -> bool:
        return self.is_number or self.is_amount

    @property
    def is_words(self) -> bool:
        return isinstance(self.value, str) and not self.is_amount

    @property
    def is_long(self) -> bool:
        """It needs some room, so as not to become a narrow tower of words."""
        return self.is_words and len(str(self.value)) > 32

    @property
    def is_moment(self) -> bool:
        return isinstance(self.value, datetime)

    @property
    def is_day(self) -> bool:
        return isinstance(self.value, date) and not self.is_moment


@dataclass(frozen=True)
class Fact:
    label: str
    cell: Cell
    # What there is to do about it.
    advice: str = ""


@dataclass(frozen=True)
class Head:
    words: str
    stands_right: bool


@dataclass(frozen=True)
class Panel:
    question: str
    # Said where there is no row.
    empty: str = ""
    columns: tuple[str, ...] = ()
    rows: list[list[Cell]] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    note: str = ""
    more: Link | None = None

    @property
    def heads(self) -> list[Head]:
        """Numbers stand right, and so do the words above them."""
        return [
            Head(words, any(row[place].stands_right for row in self.rows))
            for place, words in enumerate(self.columns)
        ]


@dataclass(frozen=True)
class Hit:
    link: Link
    # What tells it from others: its state, its owner's name.
    words: str
    accounts: list[Link]
    # It is what was asked for, letter by letter.
    is_exact: bool


@dataclass(frozen=True)
class Findings:
    kind: str
    hits: list[Hit]


def require_staff_permissions(
    *permissions: str,
) -> Callable[[Callable[..., Told]], Callable[..., Told | None]]:
    """Asked for a user of the staff; nothing for those whose group may not see it."""

    def guarded(tell: Callable[..., Told]) -> Callable[..., Told | None]:
        @wraps(tell)
        def tell_if_allowed(*, user: "User", **about: Any) -> Told | None:
            return tell(**about) if user.has_perms(permissions) else None

        return tell_if_allowed

    return guarded


def admin_url(thing: Model) -> str:
    """Its page in the admin."""
    meta = thing._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[thing.pk])


def admin_list_url(model: type[Model], query: str = "") -> str:
    """The admin's list of them: all, or those of the query."""
    meta = model._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist") + query


def admin_list_url_of_account(model: type[Model], account: "Account") -> str:
    """By the index, which a search in the list would not use."""
    return admin_list_url(model, f"?account__id__exact={account.pk}")


def link_to(thing: Model, words: str = "") -> Link:
    return Link(words or str(thing), admin_url(thing))


def cell_of(thing: Model, words: str = "") -> Cell:
    return Cell(words or str(thing), admin_url(thing))


def usage_of(account: "Account", words: str = "Usage and requests") -> Link:
    """Where staff look at what a customer sees, without being able to do what a customer does."""
    return Link(words, reverse("admin:show-usage", args=[account.public_id]))


def cell_of_account(account: "Account") -> Cell:
    link = usage_of(account, account.name)
    return Cell(link.words, link.url)
