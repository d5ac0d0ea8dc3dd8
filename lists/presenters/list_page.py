from dataclasses import dataclass
from functools import cached_property

from accounts.presenters.elements import Badge
from accounts.presenters.stats import Stat
from accounts.roles import TeamPermission, who_has
from credits.models import Wallet
from lists.models import AddressList, ListSample
from lists.models.states import UNREAD, ListState
from lists.presenters import sentences
from lists.presenters.file_preview import FilePreview
from lists.presenters.reasons import describe_reasons
from lists.previews import StoredPreview
from lists.results.reading import ResultFilter
from lists.results.sample import (
    MIN_ADDRESSES,
    SAMPLE_SIZE,
    SAMPLES_PER_DAY,
    EstimatedShare,
    bounce_rate_of,
    shares_of,
)

_SHOWN_TYPOS = 10
_TONES = {
    ListState.PAUSED: ("risky", "triangle-alert"),
    ListState.RECHECKING: ("deliverable", "circle-check"),
    ListState.COMPLETED: ("deliverable", "circle-check"),
    ListState.FAILED: ("undeliverable", "circle-x"),
}


@dataclass(frozen=True)
class VerdictShare:
    verdict: str
    count: int
    percent: float
    # Where it begins in the bar.
    start: float


@dataclass(frozen=True)
class ListRow:
    address_list: AddressList

    @property
    def badge(self) -> Badge:
        state = ListState(self.address_list.phase)
        if state == ListState.READY and not self.address_list.addresses:
            return Badge("Choose a column", "risky", "triangle-alert")
        return Badge(state.label, *_TONES.get(state, ()))

    @property
    def shares(self) -> list[VerdictShare]:
        shares, start = [], 0.0
        for verdict, count in self.address_list.verdict_counts.items():
            if self.address_list.checked:
                percent = 100 * count / self.address_list.checked
                shares.append(VerdictShare(verdict, count, percent, start))
                start += percent
        return shares

    @property
    def shares_text(self) -> str:
        return ", ".join(f"{share.percent:.1f}% {share.verdict}" for share in self.shares)

    @property
    def charged(self) -> int | None:
        return self.address_list.charged if self.address_list.started_at else None


@dataclass(frozen=True)
class ListPage(ListRow):
    wallet: Wallet
    may_act: bool
    sample: ListSample | None = None

    @property
    def intro(self) -> str:
        if self.address_list.phase == ListState.READY and not self.may_act:
            return f"Ask {who_has(TeamPermission.VALIDATE)} to start the list."
        return sentences.describe_state(self.address_list)

    @property
    def deletion(self) -> str:
        return sentences.describe_deletion(self.address_list)

    @property
    def progress(self) -> str:
        return sentences.describe_progress(self.address_list)

    @property
    def speed(self) -> str:
        return sentences.describe_speed(self.address_list)

    @property
    def may_continue_upload(self) -> bool:
        is_from_page = self.address_list.key_id is None
        return self.may_act and is_from_page and self.address_list.state == ListState.UPLOADING

    @property
    def may_prepare(self) -> bool:
        return self.preview is not None and self.address_list.phase == ListState.READY

    @property
    def refusal(self) -> str:
        """Return why the automatic start was refused."""
        is_ready = self.address_list.phase == ListState.READY
        return self.address_list.error_message if is_ready else ""

    @property
    def tiles(self) -> list[Stat]:
        found = self.address_list
        is_unclear = self.may_prepare and not found.addresses
        if not found.rows or found.phase in UNREAD or is_unclear:
            return []
        is_invalid = f"{found.bad_syntax:,} with invalid syntax" if found.bad_syntax else ""
        return [
            Stat("Rows", found.rows),
            Stat("Addresses", found.addresses, note=is_invalid),
            Stat("Duplicates", found.duplicates, note="Free"),
            Stat(
                "Without an address",
                found.empty + found.not_address,
                note=f"Free: {found.empty:,} empty, {found.not_address:,} other text",
            ),
        ]

    @property
    def cost(self) -> list[tuple[str, int]]:
        if self.charged is None:
            return []
        hold = self.address_list.hold
        held = [("Held", hold.remaining)] if hold and hold.remaining else []
        return [("Charged", self.charged), *held]

    @property
    def download_filters(self) -> list[tuple[str, str, int]]:
        counts = {
            **self.address_list.verdict_counts,
            ResultFilter.ALL: self.address_list.rows,
            ResultFilter.SAFE: self.address_list.safe,
        }
        return [(name, label, counts[name]) for name, label in ResultFilter.choices if counts[name]]

    @property
    def reasons(self) -> list[tuple[str, int, str, str]]:
        return describe_reasons(self.address_list)

    @property
    def typos(self) -> list[tuple[str, str, int]]:
        """Return mistyped domains, which only roles that see rows may see."""
        typos = self.address_list.typos.items() if self.may_act else ()
        found = [(domain, typo["suggestion"], typo["count"]) for domain, typo in typos]
        return sorted(found, key=lambda typo: typo[2], reverse=True)[:_SHOWN_TYPOS]

    @property
    def sample_shares(self) -> list[tuple[str, EstimatedShare]]:
        if self.sample is None or not self.sample.is_done:
            return []
        return list(shares_of(self.sample).items())

    @property
    def bounce_rate(self) -> EstimatedShare | None:
        return bounce_rate_of(self.sample) if self.sample else None

    @property
    def sample_offer(self) -> str:
        if self.sample_shares or self.address_list.addresses < MIN_ADDRESSES:
            return ""
        return (
            f"Check {SAMPLE_SIZE} random addresses for free to see the share of each verdict. A "
            f"list has one sample, and an account {SAMPLES_PER_DAY} per day."
        )

    @cached_property
    def preview(self) -> FilePreview | None:
        """Return None before the file is read and after it was deleted."""
        if not self.may_act or not self.address_list.was_parsed:
            return None
        return FilePreview(self.address_list, self.wallet, StoredPreview.of(self.address_list))
