"""Refuse uploads that exceed an account's limits. The caller has locked the account."""

from collections.abc import Iterable
from datetime import UTC, timedelta

from django.conf import settings
from django.core.cache import caches
from django.db.models import Sum
from django.urls import reverse
from django.utils import timezone

from accounts.models import Account
from apikeys.daily_limits import WINDOW
from apikeys.errors import ApiError, daily_limit_exceeded, limit_exceeded
from apikeys.throttling.limits import query_counters
from credits.plans.list_limits import is_free, list_limits
from lists.models import AddressList, ListUpload
from lists.models.lists import Dedupe

MAX_UNFINISHED = 20
UPLOADS_PER_DAY = 3
COLUMN_CHANGES_PER_HOUR = 3


def check_new_list(account: Account, addresses: int = 0) -> None:
    """Raise if there is no room for a list. Pass how many addresses it surely has."""
    if AddressList.objects.unfinished().filter(account=account).count() >= MAX_UNFINISHED:
        message = f"You have {MAX_UNFINISHED} unfinished lists. Finish, cancel or delete one first."
        raise ApiError("too_many_lists", message, details={"limit": MAX_UNFINISHED})
    limit = list_limits(account).addresses
    if addresses > limit:
        message = f"A list can have up to {limit:,} addresses. Split it, or upgrade your plan."
        raise ApiError("list_too_large", message, details={"limit": limit})
    check_day(account, "addresses", limit, max(1, addresses))


def require_mailbox_lists(account: Account) -> None:
    """Raise if lists of the account can't ask mail servers."""
    if not settings.PROBE_MAILBOX_CHECKS:
        raise ApiError("mailbox_checks_unavailable", param="check")
    if is_free(account):
        raise ApiError(
            "plan_limit_reached",
            "Lists with mailbox checks need a paid plan or a pack. Buy credits or upgrade your "
            "plan, or check the domains only.",
            param="check",
            details={
                "limit": 0,
                "resets_at": None,
                "upgrade_url": f"{settings.BASE_URL}{reverse('credits:choose-plan')}",
            },
        )


def check_bytes(account: Account, size: int) -> None:
    """Raise if the bytes exceed the limit of unfinished lists, or the day's."""
    limit = list_limits(account).bytes
    unfinished = AddressList.objects.unfinished().filter(account=account)
    used = unfinished.aggregate(total=Sum("bytes"))["total"] or 0
    if used + size > limit:
        message = f"Unfinished lists can have {format_bytes(limit)} in all. Delete one, or upgrade."
        details = {"limit": limit, "used": used}
        raise ApiError("list_too_large", message, details=details)
    check_day(account, "bytes", limit, size)


def count_addresses(emails: Iterable[str], dedupe: str) -> int:
    """Return how many addresses parsing will find at least."""
    found = [email for email in emails if "@" in email]
    if dedupe == Dedupe.MAILBOX:
        return min(1, len(found))
    if dedupe == Dedupe.OFF:
        return len(found)
    # Coarser than `address_hash`, which takes 30 times as long.
    plain = (email.replace('"', "").strip() for email in found if email.isascii())
    return len({email.rstrip(".").lower() for email in plain})


def count_column_change(address_list: AddressList) -> None:
    """Raise if the list is parsed again too often in this hour."""
    hour = timezone.now().astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    key = f"list-column-changes:{address_list.public_id}:{hour:%Y%m%d%H}"
    changes = query_counters(lambda: caches["hourly_counters"].incr(key))
    # If the store is unavailable, there is no limit.
    if changes is not None and changes > COLUMN_CHANGES_PER_HOUR:
        raise limit_exceeded(
            f"choose another column or encoding {COLUMN_CHANGES_PER_HOUR} times per hour",
            limit=COLUMN_CHANGES_PER_HOUR,
            window=timedelta(hours=1),
            ends=hour + timedelta(hours=1),
        )


def format_bytes(size: int) -> str:
    if size >= 1 << 30:
        return f"{size / (1 << 30):.3g} GB"
    return f"{size / (1 << 20):.3g} MB"


def check_day(
    account: Account, unit: str, list_limit: int, amount: int, *, except_list: int = 0
) -> None:
    """Raise if `amount` more addresses or bytes exceed the limit of 24 hours."""
    limit = list_limit * UPLOADS_PER_DAY
    uploads = ListUpload.objects.recent().filter(account=account).order_by("at")
    uploads = uploads.exclude(list=except_list)
    sizes = list(uploads.values_list("at", unit))
    used = sum(size for _, size in sizes)
    if used + amount <= limit:
        return
    # When enough uploads are a day old.
    ends, excess = timezone.now() + WINDOW, used + amount - limit
    for at, size in sizes:
        excess -= size
        if excess <= 0:
            ends = at + WINDOW
            break
    shown = format_bytes(limit) if unit == "bytes" else f"{limit:,} addresses"
    raise daily_limit_exceeded(f"upload up to {shown}", limit=limit, ends=ends)
