"""What the page of a list shows in each state, and why an action was refused. Pure."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.forms import Form

from accounts.presenters.elements import Badge
from apikeys.errors import REFUSALS, ApiError
from credits.models import Wallet
from credits.plans.list_limits import ListLimits
from validation.lists.forms import DownloadForm
from validation.lists.uploads.limits import format_bytes
from validation.models import AddressList, ListSample
from validation.models.list_states import State
from validation.presenters import lists
from validation.presenters.list_previews import ListPreview, Sample

# The API's messages name parameters.
_MESSAGES = {
    "invalid_state": "The list has changed. This page shows its current state.",
    "confirmation_required": "Most cells in this column aren't addresses. Choose another column, "
    "or confirm that you want to start.",
    "insufficient_credits": "Your balance doesn't cover the list. Buy credits, then try again.",
    "key_credit_limit_reached": "The API key that created this list has too few credits left in "
    "its monthly limit. Raise the limit under Settings → API Keys, then try again.",
    "account_suspended": "The account is suspended, so its lists can't run.",
}

_UPLOAD_MESSAGES = {
    "invalid_state": "This upload has ended. Reload the page, and upload the file again.",
    "part_conflict": "The file has changed since its upload began. Cancel the upload, and start "
    "again.",
    "invalid_field": "A part of the file arrived damaged. Try again.",
}


@dataclass(frozen=True)
class ListPage:
    address_list: AddressList
    wallet: Wallet
    now: datetime
    # Others see the state and the counts, but no rows.
    may_act: bool
    taken_sample: ListSample | None = None

    @property
    def badge(self) -> Badge:
        return lists.state_badge(self.address_list)

    @property
    def phase(self) -> str:
        return lists.list_phase(self.address_list)

    @property
    def intro(self) -> str:
        return lists.describe_state(self.address_list)

    @property
    def refusal(self) -> str:
        """Return why a list that should start when it's ready wasn't started."""
        return self.address_list.error_message if self.phase == State.READY else ""

    @property
    def deletion(self) -> str:
        return lists.describe_deletion(self.address_list)

    @property
    def is_moving(self) -> bool:
        return lists.is_moving(self.address_list)

    @property
    def has_progress(self) -> bool:
        return self.is_moving or self.address_list.state == State.PAUSED

    @property
    def may_pause(self) -> bool:
        return self.may_act and lists.may_pause(self.address_list)

    @property
    def may_resume(self) -> bool:
        return self.may_act and self.address_list.state == State.PAUSED

    @property
    def may_cancel(self) -> bool:
        return self.may_act and lists.may_cancel(self.address_list)

    @property
    def may_download(self) -> bool:
        return self.may_act and lists.may_download(self.address_list)

    @property
    def may_try_again(self) -> bool:
        return self.may_act and self.address_list.state == State.FAILED

    @property
    def may_continue_upload(self) -> bool:
        """Return whether the rest of the file can be uploaded on the page of a new list."""
        is_from_page = self.address_list.key_id is None
        return self.may_act and is_from_page and self.address_list.state == State.UPLOADING

    @property
    def may_prepare(self) -> bool:
        """Return whether the member can choose a column and start the list."""
        return self.preview is not None and self.phase == State.READY

    @property
    def percent(self) -> int:
        return lists.find_percent(self.address_list)

    @property
    def progress(self) -> str:
        return lists.describe_progress(self.address_list)

    @property
    def speed(self) -> str:
        return lists.describe_speed(self.address_list, self.now)

    @property
    def shares(self) -> list[tuple[str, int, float]]:
        return [
            (share.verdict, share.count, share.percent)
            for share in lists.find_shares(self.address_list)
        ]

    @property
    def counts(self) -> list[tuple[str, str]]:
        """Return the counts of rows, nothing before the file is read."""
        if not self.address_list.rows:
            return []
        numbers = {
            "Rows": self.address_list.rows,
            "Addresses to check": self.address_list.addresses,
            "Duplicates": self.address_list.duplicates,
            "Empty cells": self.address_list.empty,
            "Not an address": self.address_list.not_address,
            "Invalid syntax": self.address_list.bad_syntax,
        }
        return [(label, f"{number:,}") for label, number in numbers.items()]

    @property
    def cost(self) -> list[tuple[str, str]]:
        """Return what a started list has cost, and may still cost."""
        if self.address_list.started_at is None:
            return []
        hold = self.address_list.hold
        pairs = [("Charged", f"{lists.count_charged(self.address_list):,}")]
        if hold and hold.remaining:
            pairs.append(("Held", f"{hold.remaining:,}"))
        return pairs

    @property
    def download_form(self) -> DownloadForm:
        return DownloadForm()

    @property
    def sample(self) -> Sample:
        return Sample.of(self.address_list, self.taken_sample)

    @cached_property
    def preview(self) -> ListPreview | None:
        return ListPreview.of(self.address_list, self.wallet) if self.may_act else None


def describe_refusal(error: ApiError) -> str:
    """Return the reason for a refusal in the words of the pages."""
    return _MESSAGES.get(error.code) or error.message or REFUSALS[error.code].message


def describe_upload_refusal(error: ApiError) -> str:
    """Return why a part of a file was refused. The API's messages are for programs."""
    return _UPLOAD_MESSAGES.get(error.code) or describe_refusal(error)


def describe_form_error(form: Form) -> str:
    """Return the first error of a form, with the name of its field."""
    name, messages = next(iter(form.errors.items()))
    label = form.fields[name].label if name in form.fields else None
    return f"{label or name.replace('_', ' ').capitalize()}: {messages[0]}"


def describe_size_limit(limits: ListLimits) -> str:
    return (
        f"The file is larger than {format_bytes(limits.bytes)}, your plan's limit. Split the file, "
        "or upgrade your plan."
    )


def describe_limits(limits: ListLimits) -> str:
    return (
        f"Your plan allows lists of up to {limits.addresses:,} addresses, and "
        f"{format_bytes(limits.bytes)} in unfinished lists."
    )
