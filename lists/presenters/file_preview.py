from dataclasses import dataclass
from functools import cached_property

from django.conf import settings
from django.template.defaultfilters import pluralize

from credits.models import Pack, Wallet
from credits.money import format_credits
from credits.plans.list_limits import is_free
from lists.files.columns import FileColumn
from lists.files.text_encoding import ENCODINGS, Confidence
from lists.models import AddressList
from lists.previews import StoredPreview

_SHOWN_DOMAINS = 10
_KINDS = {
    "disposable": "Disposable domains",
    "free_provider": "Free email providers",
    "role_account": "Role addresses",
}


@dataclass(frozen=True)
class FilePreview:
    address_list: AddressList
    wallet: Wallet
    stored: StoredPreview

    @property
    def columns(self) -> list[tuple[FileColumn, str]]:
        columns = self.stored.columns
        return [(column, column.name or f"Column {column.index + 1}") for column in columns]

    @property
    def first_rows(self) -> list[list[str]]:
        width = len(self.stored.columns)
        return [row + [""] * (width - len(row)) for row in self.stored.first_rows]

    @property
    def chosen_column(self) -> int | None:
        is_unclear = self.stored.guessed_column is None and not self.address_list.addresses
        return None if is_unclear else self.address_list.column

    @property
    def column_advice(self) -> str:
        if self.address_list.addresses:
            chosen = self.address_list.column or 0
            names = {column.index: name for column, name in self.columns}
            name = names.get(chosen, f"Column {chosen + 1}")
            is_only = len(self.stored.columns) == 1
            other = "" if is_only else " To check another one, click its name."
            return f"We check the column “{name}”.{other}"
        if self.may_extract:
            return ""
        if len(self.stored.columns) == 1:
            return "No cell is an address. Upload another file."
        if self.stored.guessed_column is None:
            none = "No column looks like addresses. Choose the right one, or upload another file."
            is_spreadsheet = self.stored.file.kind == "xlsx"
            return f"{none} Only its first sheet with text was read." if is_spreadsheet else none
        return "No cell in this column is an address. Choose another column."

    @property
    def kinds(self) -> list[tuple[str, str]]:
        """Return shares that are known without a check. Small lists have none."""
        shares = self.stored.shares(self.address_list.addresses).items()
        return [(_KINDS[name], f"{100 * share:.1f}%") for name, share in shares]

    @property
    def top_domains(self) -> list[tuple[str, int]]:
        return self.stored.top_domains[:_SHOWN_DOMAINS] if self.kinds else []

    @property
    def missing_credits(self) -> int:
        return max(0, self.address_list.price + self.wallet.debt - self.wallet.balance)

    @cached_property
    def pack(self) -> Pack | None:
        return Pack.objects.covering(self.missing_credits)

    @property
    def offers_mailboxes(self) -> bool:
        return settings.PROBE_MAILBOX_CHECKS

    @cached_property
    def mailbox_refusal(self) -> str:
        """Return why mail servers can't be asked for this list."""
        if is_free(self.address_list.account):
            return "It needs a paid plan or a pack."
        missing = self.address_list.mailbox_price + self.wallet.debt - self.wallet.balance
        return f"You need {format_credits(missing)} more." if missing > 0 else ""

    @property
    def mailbox_duration(self) -> str:
        """Return how long mail servers take, which their pace decides."""
        hours = self.stored.mailbox_seconds / 3600
        return f"at least {round(hours):,} hours" if hours >= 2 else "minutes to hours"

    @property
    def encodings(self) -> dict[str, str]:
        """Return those to choose from, unless the bytes prove the one that was used."""
        file = self.stored.file
        if file.kind != "text" or file.encoding_confidence == Confidence.CERTAIN:
            return {}
        return {file.encoding: file.encoding} | ENCODINGS

    @property
    def is_encoding_unsure(self) -> bool:
        is_unsure = self.stored.file.encoding_confidence == Confidence.UNSURE
        return is_unsure and not self.address_list.encoding

    @property
    def may_extract(self) -> bool:
        return self.stored.extractable > 0 and not self.address_list.extracts_addresses

    @property
    def confirmation(self) -> str:
        """Return what to confirm if this may be the wrong column or encoding."""
        if not self.address_list.needs_confirmation:
            unsure = "Start, although we aren't sure about the file's encoding"
            return unsure if self.is_encoding_unsure else ""
        cells = self.address_list.not_address
        return f"Start, although {cells:,} cell{pluralize(cells)} aren't addresses"
