"""Refuse uploads that exceed an account's limits. The caller has locked the account's row."""

from datetime import datetime

from django.db.models import Sum
from django.utils import timezone

from accounts.models import Account
from apikeys.errors import ApiError, daily_limit_exceeded
from credits.plans.list_limits import list_limits
from validation.models import AddressList, ListUpload
from validation.models.list_uploads import UPLOAD_WINDOW

MAX_UNFINISHED = 20
# How often an account may upload its limit within a day.
UPLOADS_PER_DAY = 3


def check_new_list(account: Account) -> None:
    """Raise if the account has too many lists, or uploaded too many addresses lately."""
    if AddressList.objects.unfinished().filter(account=account).count() >= MAX_UNFINISHED:
        message = f"You have {MAX_UNFINISHED} unfinished lists. Finish, cancel or delete one first."
        raise ApiError("too_many_lists", message, details={"limit": MAX_UNFINISHED})
    _check_day(account, "addresses", list_limits(account).addresses, 1)


def check_bytes(account: Account, size: int) -> None:
    """Raise if this many more bytes don't fit into the limit of unfinished lists, or of the day."""
    limit = list_limits(account).bytes
    unfinished = AddressList.objects.unfinished().filter(account=account)
    used = unfinished.aggregate(total=Sum("bytes"))["total"] or 0
    if used + size > limit:
        message = f"Your unfinished lists can have up to {format_bytes(limit)} in all."
        details = {"limit": limit, "used": used}
        raise ApiError("list_too_large", message, details=details)
    _check_day(account, "bytes", limit, size)


def find_daily_excess(account: Account, address_list: AddressList, addresses: int) -> int | None:
    """Return the day's limit of addresses if the list with this many exceeds it."""
    limit = list_limits(account).addresses * UPLOADS_PER_DAY
    others = ListUpload.objects.recent().filter(account=account).exclude(list=address_list)
    used = others.aggregate(total=Sum("addresses"))["total"] or 0
    return limit if used + addresses > limit else None


def format_bytes(size: int) -> str:
    if size >= 1 << 30:
        return f"{size / (1 << 30):.3g} GB"
    return f"{size / (1 << 20):.3g} MB"


def _check_day(account: Account, unit: str, list_limit: int, amount: int) -> None:
    limit = list_limit * UPLOADS_PER_DAY
    uploads = ListUpload.objects.recent().filter(account=account).order_by("at")
    sizes = list(uploads.values_list("at", unit))
    used = sum(size for _, size in sizes)
    if used + amount <= limit:
        return
    ends = _find_end(sizes, used + amount - limit)
    shown = format_bytes(limit) if unit == "bytes" else f"{limit:,} addresses"
    raise daily_limit_exceeded(f"upload up to {shown}", limit=limit, ends=ends)


def _find_end(sizes: list[tuple[datetime, int]], excess: int) -> datetime:
    """Return when enough of the oldest uploads are a day old."""
    for at, size in sizes:
        excess -= size
        if excess <= 0:
            return at + UPLOAD_WINDOW
    # More than the whole limit: it never fits.
    return timezone.now() + UPLOAD_WINDOW
