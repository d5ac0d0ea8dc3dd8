"""Check a random sample for free, to estimate the whole list."""

import math
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from accounts.engine import get_engine
from accounts.models import Account
from engine import LookupShare
from lists.models import AddressList, ListChunk, ListSample
from lists.packing import RowKind, Rows
from validation.lookup_limits import AccountLookupLimit

SAMPLE_SIZE = 200
MIN_ADDRESSES = 2_000
SAMPLES_PER_DAY = 5
# Leaves most of the engine's lookups to other accounts.
_LOOKUPS = 40
_DEADLINE_SECONDS = 12.0
# A sample that takes longer was interrupted, and can be repeated.
_ABANDONED_AFTER = timedelta(minutes=2)
_MAX_ROWS_PER_ADDRESS = 20
# The normal distribution's 97.5th percentile, for 95% confidence.
_Z = 1.959964

_random = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class EstimatedShare:
    """A share with its 95% confidence interval, from 0 to 1."""

    share: float
    low: float
    high: float

    @property
    def percent(self) -> str:
        return f"{100 * self.share:.1f}%"

    @property
    def interval(self) -> str:
        return f"{100 * self.low:.0f}% to {100 * self.high:.0f}%"


def wilson_interval(count: int, size: int) -> EstimatedShare:
    """Return Wilson's score interval, which is accurate near 0 and 1."""
    if not size:
        return EstimatedShare(0.0, 0.0, 1.0)
    share = count / size
    spread = _Z * _Z / size
    center = (share + spread / 2) / (1 + spread)
    half = _Z / (1 + spread) * math.sqrt((share * (1 - share) + spread / 4) / size)
    return EstimatedShare(
        round(share, 4), round(max(0.0, center - half), 4), round(min(1.0, center + half), 4)
    )


def take_sample(address_list: AddressList) -> ListSample:
    """Return the list's sample. The first call takes it."""
    sample = _reserve(address_list)
    if sample.is_done:
        return sample
    emails = pick_addresses(address_list)
    found = get_engine().check_many(
        emails,
        seconds=_DEADLINE_SECONDS,
        share=LookupShare(_LOOKUPS),
        limit=AccountLookupLimit(address_list.account),
    )
    for verdict, count in Counter(finding.verdict for finding in found).items():
        setattr(sample, verdict.value, count)
    sample.is_done = True
    sample.save()
    return sample


def shares_of(sample: ListSample) -> dict[str, EstimatedShare]:
    counts = sample.verdict_counts.items()
    return {verdict: wilson_interval(count, sample.size) for verdict, count in counts}


def bounce_rate_of(sample: ListSample) -> EstimatedShare:
    """Return the share of emails that bounce, as far as the DNS can tell."""
    return wilson_interval(sample.undeliverable, sample.size - sample.unknown)


@transaction.atomic
def _reserve(address_list: AddressList) -> ListSample:
    """Return the sample, new or old. The lock protects the daily limit."""
    account = Account.objects.select_for_update(no_key=True).get(pk=address_list.account_id)
    if address_list.addresses < MIN_ADDRESSES:
        message = f"A sample needs a list with at least {MIN_ADDRESSES:,} distinct addresses."
        raise address_list.invalid_state(message)
    now = timezone.now()
    existing = ListSample.objects.filter(list=address_list).first()
    if existing is not None and not existing.is_done and existing.at > now - _ABANDONED_AFTER:
        raise address_list.invalid_state("The sample is being taken. Try again in a few seconds.")
    if existing is not None:
        return existing
    samples = ListSample.objects.filter(account=account)
    samples.require_room(SAMPLES_PER_DAY, f"take {SAMPLES_PER_DAY} samples")
    # Of deleted lists.
    samples.old().filter(list=None).delete()
    return ListSample.objects.create(account=account, list=address_list)


def pick_addresses(address_list: AddressList, size: int = SAMPLE_SIZE) -> list[str]:
    """Return distinct addresses, each equally likely, or fewer if most rows have none."""
    picked: dict[str, None] = {}
    rows_to_read = min(address_list.rows, _MAX_ROWS_PER_ADDRESS * size)
    numbers = _random.sample(range(address_list.rows), rows_to_read)
    for start in range(0, len(numbers), size):
        for cells in _address_rows(address_list, numbers[start : start + size]):
            picked[address_list.address_in(cells)] = None
        if len(picked) >= size:
            break
    return _random.sample([*picked], min(size, len(picked)))


def _address_rows(address_list: AddressList, numbers: Sequence[int]) -> Iterator[list[str]]:
    chunks = ListChunk.objects.filter(list=address_list).defer("results")
    first, rows = 0, Rows([], "", [])
    for number in sorted(numbers):
        if number >= first + len(rows.kinds):
            chunk = chunks.with_row(number)
            first, rows = chunk.first_row, Rows.unpack(chunk.rows)
            # Let other requests run.
            time.sleep(0)
        if rows.kinds[number - first] == RowKind.ADDRESS:
            yield rows.cells[number - first]
