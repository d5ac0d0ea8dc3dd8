from datetime import timedelta

from django.db.models import F, Max, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from accounts.models import Account
from accounts.presenters.stats import Stat, show_trend, trend_start
from accounts.staff.links import account_admin_list_url, account_cell, admin_list_url, link_cell
from accounts.staff.panels import MAX_ROWS, Cell, Link, Panel, require_staff_permissions
from apikeys.errors import REFUSALS
from apikeys.models import ApiKey, RefusalHour
from runtime.dates import midnight

DAY = timedelta(hours=24)
DAYS_SHOWN = 30
MAX_KEYS = 30


@require_staff_permissions("accounts.view_account", "apikeys.view_refusalhour")
def refusals_panel() -> Panel:
    worst = RefusalHour.objects.summarize_by_account(timezone.now() - DAY)[:MAX_ROWS]
    accounts = Account.objects.in_bulk([row["account"] for row in worst])
    return Panel(
        "Refused requests",
        "No requests were refused in the last 24 hours.",
        columns=("Account", "429", "402", "401", "Other", "Requests per minute"),
        rows=[
            [
                account_cell(accounts[row["account"]]),
                *(Cell(row[name]) for name in ("limited", "unpaid", "unknown", "others")),
                Cell(accounts[row["account"]].request_limit),
            ]
            for row in worst
        ],
        note="The last 24 hours, in whole hours.",
        more=Link("All refusals by hour", admin_list_url(RefusalHour, "?o=-1")),
    )


@require_staff_permissions("apikeys.view_refusalhour")
def refusal_trend() -> list[Stat]:
    hours = RefusalHour.objects.filter(hour__gte=midnight(trend_start())).order_by()
    days = hours.values_list(TruncDate("hour")).annotate(sum=Sum("calls"))
    url = admin_list_url(RefusalHour, "?o=-1")
    return [show_trend("Refused requests", dict(days), url)]


@require_staff_permissions("apikeys.view_apikey", tab="Keys and webhooks")
def keys_panel(account: Account) -> Panel:
    newest = account.api_keys.order_by(F("last_used_at").desc(nulls_last=True), "-pk")
    return Panel(
        "API keys",
        "No API keys yet.",
        columns=("Key", "Secret", "State", "Access", "Created", "Last used", "From"),
        rows=[
            [
                link_cell(key, key.name),
                Cell(key.display),
                Cell(key.state, tone="" if key.is_active else "warning"),
                Cell(key.access),
                Cell(key.created_at),
                Cell(key.last_used_at),
                Cell(key.last_used_ip),
            ]
            for key in newest[:MAX_KEYS]
        ],
        more=Link("All API keys", account_admin_list_url(ApiKey, account)),
    )


@require_staff_permissions("apikeys.view_refusalhour", tab="Requests")
def account_refusals_panel(account: Account) -> Panel:
    since = timezone.now() - timedelta(days=DAYS_SHOWN)
    hours = RefusalHour.objects.filter(account=account, hour__gte=since)
    codes = hours.values("code").annotate(sum=Sum("calls"), newest=Max("hour")).order_by("-sum")
    return Panel(
        "Refused requests",
        f"No requests were refused in the last {DAYS_SHOWN} days.",
        columns=("Code", "Status", "Requests", "Last seen (by hour)"),
        rows=[
            [
                Cell(row["code"]),
                Cell(str(REFUSALS[row["code"]].status) if row["code"] in REFUSALS else None),
                Cell(row["sum"]),
                Cell(row["newest"]),
            ]
            for row in codes
        ],
        note=f"The last {DAYS_SHOWN} days, including 429s.",
    )
