from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from accounts.presenters.stats import Stat

if TYPE_CHECKING:
    from accounts.models import User

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
class Panel:
    title: str
    empty: str = ""
    columns: tuple[str, ...] = ()
    rows: list[list[Cell]] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    note: str = ""
    more: Link | None = None
    # Whether the rows wait for staff. Without rows, the front page shows only the count.
    is_work: bool = False
    stats: Sequence[Stat] = ()
    # For templates/fragments/chart.html.
    chart: Any = None

    @property
    def count(self) -> str:
        return f"{MAX_ROWS}+" if len(self.rows) >= MAX_ROWS else str(len(self.rows))

    @property
    def labeled_rows(self) -> list[list[tuple[str, Cell]]]:
        return [list(zip(self.columns, row, strict=True)) for row in self.rows]

    @property
    def headers(self) -> list[tuple[str, bool]]:
        """Return each column's text, and whether the column is right-aligned."""
        columns = zip(*self.rows, strict=True)
        aligned = (any(cell.is_right_aligned for cell in cells) for cells in columns)
        return list(zip(self.columns, aligned, strict=True))


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


class StaffFunction(Generic[Result]):
    """Takes a `user`, and returns None without the permissions. `tab`: on the account's page."""

    def __init__(
        self, build: Callable[..., Result], permissions: tuple[str, ...], tab: str
    ) -> None:
        update_wrapper(self, build)
        self.build, self.permissions, self.tab = build, permissions, tab

    def is_allowed(self, user: "User") -> bool:
        return user.has_perms(self.permissions)

    def __call__(self, *, user: "User", **kwargs: object) -> Result | None:
        return self.build(**kwargs) if self.is_allowed(user) else None


def require_staff_permissions(
    *permissions: str, tab: str = ""
) -> Callable[[Callable[..., Result]], StaffFunction[Result]]:
    return lambda build: StaffFunction(build, permissions, tab)
