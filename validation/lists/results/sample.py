"""Check a random sample of a list for free, to estimate what the whole list would show.

A sample says nothing about single addresses. That is what the list costs credits for.
"""

import math
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from accounts.engine import get_engine
from accounts.models import Account
from apikeys.errors import ApiError, daily_limit_exceeded
from validation.engine.batch import LookupShare, check_all
from validation.engine.verdicts.reasons import Verdict
from validation.lists.payloads import RowKind, Rows
from validation.lookup_limits import AccountLookupLimit
from validation.models import AddressList, ListChunk, ListSample
from validation.models.list_samples import SAMPLE_WINDOW
from validation.models.lists import CHUNK_ROWS

SAMPLE_SIZE = 200
MIN_ADDRESSES = 2_000
SAMPLES_PER_DAY = 5
# So that other accounts have most of the engine's lookups left.
_LOOKUPS = 40
# Cold domains take a while, with this many lookups at a time.
_DEADLINE_SECONDS = 12.0
# A sample that isn't done by then was interrupted, and can be taken again.
_ABANDONED_AFTER = timedelta(minutes=2)
# Rows are read until enough have an address.
_MAX_ROWS_PER_ADDRESS = 20
# The 97.5th percentile of the normal distribution, for intervals with 95% confidence.
_Z = 1.959964

_random = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class Share:
    """An estimated share with its 95% confidence interval, from 0 to 1."""

    share: float
    low: float
    high: float


def wilson_interval(count: int, size: int) -> Share:
    """Return Wilson's score interval, which is right for shares near 0 and 1 as well."""
    if not size:
        return Share(0.0, 0.0, 1.0)
    share = count / size
    spread = _Z * _Z / size
    center = (share + spread / 2) / (1 + spread)
    half = _Z / (1 + spread) * math.sqrt((share * (1 - share) + spread / 4) / size)
    return Share(
        round(share, 4), round(max(0.0, center - half), 4), round(min(1.0, center + half), 4)
    )


def take_sample(address_list: AddressList) -> ListSample:
    """Return the list's sample. The first call takes it."""
    sample = _reserve(address_list)
    if sample.is_done:
        return sample
    emails = pick_addresses(address_list)
    found = check_all(
        get_engine(),
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


def shares_of(sample: ListSample) -> dict[str, Share]:
    counts = {verdict.value: getattr(sample, verdict.value) for verdict in Verdict}
    return {name: wilson_interval(count, sample.size) for name, count in counts.items()}


@transaction.atomic
def _reserve(address_list: AddressList) -> ListSample:
    """Return the list's sample, or a new one that isn't done. Raise if it can't be taken."""
    account = Account.objects.select_for_update(no_key=True).get(pk=address_list.account_id)
    if address_list.addresses < MIN_ADDRESSES:
        message = f"A sample needs a list with at least {MIN_ADDRESSES:,} distinct addresses."
        raise _refused(address_list, message)
    now = timezone.now()
    existing = ListSample.objects.filter(list=address_list).first()
    if existing is not None and not existing.is_done and existing.at > now - _ABANDONED_AFTER:
        raise _refused(address_list, "The sample is being taken. Try again in a few seconds.")
    if existing is not None:
        return existing
    _check_day(account)
    ListSample.objects.obsolete().filter(account=account).delete()
    return ListSample.objects.create(account=account, list=address_list)


def _check_day(account: Account) -> None:
    recent = ListSample.objects.recent().filter(account=account).order_by("-at")
    counted = list(recent.values_list("at", flat=True)[:SAMPLES_PER_DAY])
    if len(counted) < SAMPLES_PER_DAY:
        return
    ends = counted[-1] + SAMPLE_WINDOW
    raise daily_limit_exceeded(f"take {SAMPLES_PER_DAY} samples", limit=SAMPLES_PER_DAY, ends=ends)


def _refused(address_list: AddressList, message: str) -> ApiError:
    return ApiError("invalid_state", message, details={"state": address_list.state})


def pick_addresses(address_list: AddressList, size: int = SAMPLE_SIZE) -> list[str]:
    """Return random distinct addresses of the list, each equally likely.

    Returns fewer than `size` if most rows have no address.
    """
    column = address_list.column or 0
    picked: dict[str, None] = {}
    rows_to_read = min(address_list.rows, _MAX_ROWS_PER_ADDRESS * size)
    numbers = _random.sample(range(address_list.rows), rows_to_read)
    for start in range(0, len(numbers), size):
        for cells in _address_rows(address_list, numbers[start : start + size]):
            picked[cells[column].strip()] = None
        if len(picked) >= size:
            break
    return _random.sample([*picked], min(size, len(picked)))


def _address_rows(address_list: AddressList, numbers: Sequence[int]) -> Iterator[list[str]]:
    """Yield the cells of those rows that have an address of their own."""
    by_chunk = defaultdict(list)
    for number in numbers:
        by_chunk[number // CHUNK_ROWS].append(number % CHUNK_ROWS)
    for chunk_number, indexes in by_chunk.items():
        chunk = ListChunk.objects.only("rows").get(list=address_list, number=chunk_number)
        rows = Rows.unpack(bytes(chunk.rows))
        # Other requests of the web worker run in between.
        time.sleep(0)
        yield from (rows.cells[i] for i in indexes if rows.kinds[i] == RowKind.ADDRESS)
