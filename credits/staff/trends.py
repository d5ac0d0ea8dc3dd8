from collections import Counter
from dataclasses import replace
from datetime import date

from django.conf import settings
from django.db.models import F, Sum
from django.db.models.functions import TruncDate

from accounts.presenters.stats import Stat, show_trend, trend_start
from accounts.staff.links import admin_list_url
from accounts.staff.panels import require_staff_permissions
from credits.models import Order, Refund
from credits.money import format_money
from credits.wallet.totals import calls_by_day
from runtime.dates import midnight


@require_staff_permissions("credits.view_order")
def revenue_trend() -> list[Stat]:
    since, currency = midnight(trend_start()), settings.CURRENCY
    paid = Order.objects.filter(paid_at__gte=since, currency=currency).order_by()
    refunds = Refund.objects.filter(at__gte=since, order__currency=currency).order_by()
    cents: Counter[date] = Counter()
    total = F("net_cents") + F("tax_cents")
    cents.update(dict(paid.values_list(TruncDate("paid_at")).annotate(cents=Sum(total))))
    cents.subtract(dict(refunds.values_list(TruncDate("at")).annotate(sum=Sum("cents"))))
    url = admin_list_url(Order, "?state__exact=paid")
    stat = show_trend("Revenue less refunds", cents, url=url)
    return [replace(stat, value=format_money(int(stat.value), currency))]


@require_staff_permissions("credits.view_useday", "credits.view_usehour")
def validation_trends() -> list[Stat]:
    calls, unknown = calls_by_day(trend_start())
    return [show_trend("Validations", calls), show_trend("Unknown verdicts", unknown)]
