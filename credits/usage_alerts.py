"""Alert customers whose usage leaves its usual range, such as after a key leaked."""

from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import date, datetime, timedelta

from django.core.cache import cache
from django.db import transaction
from django.db.models import F, Model, Q, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from accounts.events import record_event
from accounts.models import Account
from apikeys.errors import REFUSALS
from apikeys.models import ApiKey, RefusalHour
from credits import emails
from credits.event_types import USAGE_UNUSUAL
from credits.models import UseDay, UseHour
from runtime.dates import midnight

INTERVAL_SECONDS = 600
# Today's credits exceed both limits, and some were used on enough of the days before.
HISTORY_DAYS, MIN_DAYS, MIN_CREDITS, TIMES_HIGHEST_DAY = 14, 7, 500, 3
# Refused requests of a key in this hour and the one before, and in the days before that.
ERROR_HISTORY = timedelta(days=7)
MIN_REQUESTS, UNUSUAL_PERCENT, USUAL_PERCENT = 50, 50, 10
# 402 has its own emails, and 429 only means that the key was too fast.
ERRORS = [
    code
    for code, refusal in REFUSALS.items()
    if refusal.status in range(400, 500) and refusal.status not in {402, 429}
]


def send_due_alerts(*, is_stopping: Callable[[], bool]) -> None:
    if cache.add("usage-alerts", True, timeout=INTERVAL_SECONDS):
        alert_unusual_spend()
        alert_unusual_errors()


def alert_unusual_spend() -> None:
    """Compare the credits of today (UTC) to those of each day before. Lists don't count."""
    today, spend = timezone.now().date(), Sum(F("credits") - F("list_credits"))
    first = today - timedelta(days=HISTORY_DAYS)
    hours = UseHour.objects.open().order_by()
    of_today = hours.filter(hour__gte=midnight(today), **_in_use("account"))
    active = of_today.values("account").annotate(spend=spend).filter(spend__gt=MIN_CREDITS)
    hours = hours.filter(account__in=active.values("account"), hour__gte=midnight(first))
    days = UseDay.objects.order_by().filter(account__in=active.values("account"), day__gte=first)
    by_account: dict[int, Counter[date]] = defaultdict(Counter)
    # One statement, because a day can be rolled up between two.
    rows = days.values_list("account", "day").annotate(spend=spend)
    of_hours = hours.values_list("account", TruncDate("hour")).annotate(spend=spend)
    for account_id, day, credits in rows.union(of_hours, all=True):
        by_account[account_id][day] += credits
    for account_id, by_day in by_account.items():
        value = by_day.pop(today, 0)
        used = [credits for credits in by_day.values() if credits > 0]
        usual = max(used, default=0)
        if len(used) >= MIN_DAYS and value > max(MIN_CREDITS, TIMES_HIGHEST_DAY * usual):
            shown = {"now": f"{value:,} credits", "before": f"{usual:,} credits at most"}
            account = Account.objects.get(pk=account_id)
            _alert(account, None, value, usual, midnight(today), **shown)


def alert_unusual_errors() -> None:
    """Compare the share of refused requests of each key to that of the days before."""
    now = timezone.now()
    since = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=1)
    refusals = RefusalHour.objects.filter(code__in=ERRORS)
    recent = refusals.filter(hour__gte=since, **_in_use("key__account"))
    frequent = recent.values("key").annotate(sum=Sum("calls")).filter(sum__gte=MIN_REQUESTS)
    keys = ApiKey.objects.select_related("account").in_bulk(frequent.values_list("key", flat=True))
    # The indexes begin with the account.
    history = Q(account__in={key.account_id for key in keys.values()}, key__in=keys)
    history &= Q(hour__gte=since - ERROR_HISTORY)
    refused = _count(refusals.filter(history), Sum("calls"), since)
    answered = _count(UseHour.objects.filter(history), Sum(F("calls") - F("list_calls")), since)
    for key_id, key in keys.items():
        refused_before, refused_now = refused[key_id][False], refused[key_id][True]
        before = refused_before + answered[key_id][False]
        requests = refused_now + answered[key_id][True]
        is_usual = before >= MIN_REQUESTS and 100 * refused_before < USUAL_PERCENT * before
        if is_usual and 100 * refused_now > UNUSUAL_PERCENT * requests:
            value, usual = 100 * refused_now // requests, 100 * refused_before // before
            shown = {"now": f"{refused_now:,} of {requests:,} ({value}%)", "before": f"{usual}%"}
            _alert(key.account, key, value, usual, since, **shown)


def _in_use(account: str) -> dict[str, None]:
    return {f"{account}__suspended_at": None, f"{account}__closed_at": None}


def _count(rows: QuerySet[Model], calls: Sum, since: datetime) -> dict[int, Counter[bool]]:
    """Return calls by key, before (False) and since then (True)."""
    counts: dict[int, Counter[bool]] = defaultdict(Counter)
    recent = rows.order_by().annotate(is_recent=Q(hour__gte=since))
    for key_id, is_recent, sum_of_calls in recent.values_list("key", "is_recent").annotate(
        sum=calls
    ):
        counts[key_id][bool(is_recent)] = sum_of_calls
    return counts


@transaction.atomic
def _alert(
    account: Account, key: ApiKey | None, value: int, usual: int, since: datetime, **shown: str
) -> None:
    kind, which = ("errors", key.public_id) if key else ("spend", None)
    data = {"kind": kind, "key": which, "value": value, "usual": usual, "since": since}
    once = f"usage.unusual:{which or kind}:{timezone.now().date()}"
    if record_event(account, USAGE_UNUSUAL, data, once=once):
        emails.queue_unusual_usage(account=account, key=key, **shown)
