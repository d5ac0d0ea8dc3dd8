"""What a list's file holds, and what it can cost, before it's started. Pure."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

from django.template.defaultfilters import pluralize

from credits.models import Wallet
from credits.money import format_credits
from validation.lists.api.previews import MIN_ADDRESSES_FOR_SHARES
from validation.lists.control import needs_confirmation
from validation.lists.forms import ColumnForm, name_column
from validation.lists.results.sample import (
    MIN_ADDRESSES,
    SAMPLE_SIZE,
    SAMPLES_PER_DAY,
    Share,
    shares_of,
)
from validation.lists.uploads.previews import StoredPreview
from validation.models import AddressList, ListSample

_SHOWN_DOMAINS = 10


@dataclass(frozen=True)
class Column:
    name: str
    is_chosen: bool
    is_guess: bool


@dataclass(frozen=True)
class Cell:
    text: str
    is_chosen: bool


@dataclass(frozen=True)
class SampleShare:
    verdict: str
    percent: str
    interval: str


@dataclass(frozen=True)
class Sample:
    """The free check of random addresses: what it found, or the offer to do it."""

    offer: str
    shares: list[SampleShare]

    @classmethod
    def of(cls, address_list: AddressList, sample: ListSample | None) -> Self:
        if sample is not None and sample.is_done:
            return cls("", [_format_share(*item) for item in shares_of(sample).items()])
        if address_list.addresses < MIN_ADDRESSES:
            return cls("", [])
        return cls(
            f"Check {SAMPLE_SIZE} random addresses for free to see the share of each verdict. A "
            f"list has one sample, and an account {SAMPLES_PER_DAY} per day.",
            [],
        )


def _format_share(verdict: str, share: Share) -> SampleShare:
    interval = f"{100 * share.low:.0f}% to {100 * share.high:.0f}%"
    return SampleShare(verdict, f"{100 * share.share:.1f}%", interval)


@dataclass(frozen=True)
class ListPreview:
    address_list: AddressList
    wallet: Wallet
    stored: StoredPreview

    @classmethod
    def of(cls, address_list: AddressList, wallet: Wallet) -> Self | None:
        """Return the preview, or None before the file is read and after it was deleted."""
        stored = bytes(address_list.preview)
        return cls(address_list, wallet, StoredPreview.unpack(stored)) if stored else None

    @cached_property
    def columns(self) -> list[Column]:
        """Return the columns of the first rows."""
        width = max(map(len, self.stored.first_rows), default=0)
        names = {column.index: column.name for column in self.stored.columns}
        return [
            Column(
                name_column(index, names.get(index, "")),
                is_chosen=index == self.address_list.column,
                is_guess=index == self.stored.guessed_column,
            )
            for index in range(width)
        ]

    @property
    def first_rows(self) -> list[list[Cell]]:
        """Return the first rows, all of the same width."""
        return [
            [
                Cell(row[index] if index < len(row) else "", column.is_chosen)
                for index, column in enumerate(self.columns)
            ]
            for row in self.stored.first_rows
        ]

    @property
    def column_form(self) -> ColumnForm:
        return ColumnForm(self.stored.columns, initial={"column": self.address_list.column})

    @property
    def guess(self) -> str:
        """Say which column we guess, and why."""
        for column in self.stored.columns:
            if column.index == self.stored.guessed_column:
                name = name_column(column.index, column.name)
                return f"Our guess is {name}: {column.evidence}."
        sheet = (
            " Only its first sheet with text was read." if self.stored.file.kind == "xlsx" else ""
        )
        return (
            f"No column looks like addresses. Choose the right one, or upload another file.{sheet}"
        )

    @property
    def kinds(self) -> list[tuple[str, str]]:
        """Return shares that are known without a check. Small lists have none."""
        if not self._has_shares:
            return []
        numbers = {
            "Disposable domains": self.stored.disposable,
            "Free email providers": self.stored.free_provider,
            "Role addresses": self.stored.role_account,
        }
        return [
            (label, f"{100 * number / self.stored.valid:.1f}%") for label, number in numbers.items()
        ]

    @property
    def top_domains(self) -> list[tuple[str, int]]:
        return self.stored.top_domains[:_SHOWN_DOMAINS] if self._has_shares else []

    @property
    def _has_shares(self) -> bool:
        is_large = self.address_list.addresses >= MIN_ADDRESSES_FOR_SHARES
        return is_large and self.stored.valid > 0

    @property
    def price(self) -> str:
        """Say what the list can cost, and what the account has."""
        if not self.has_addresses:
            return ""
        return (
            f"At most {format_credits(self.address_list.addresses)}. Unknown results and "
            f"duplicates are free. Your balance is {format_credits(self.wallet.balance)}."
        )

    @property
    def missing_credits(self) -> str:
        missing = self.address_list.addresses - self.wallet.balance
        return f"You need {missing:,} more credit{pluralize(missing)}." if missing > 0 else ""

    @property
    def has_addresses(self) -> bool:
        return self.address_list.addresses > 0

    @property
    def no_addresses(self) -> str:
        """Say what to do if the chosen column has no address."""
        if self.has_addresses:
            return ""
        if len(self.columns) == 1:
            return "No cell is an address. Upload another file."
        return (
            "No cell in this column is an address. Choose another column below, or upload another "
            "file."
        )

    @property
    def confirmation(self) -> str:
        """Return what the member confirms if this may be the wrong column, or nothing."""
        if not needs_confirmation(self.address_list):
            return ""
        cells = self.address_list.not_address
        return f"Start, although {cells:,} cell{pluralize(cells)} in this column aren't addresses"
