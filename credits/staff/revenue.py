from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import F, Q, QuerySet, Sum, Value

from credits.models import Order, Refund

# Start and end of each month, by its name in the result.
Months = dict[str, tuple[datetime, datetime]]
# Cents by currency, for each event ("paid" or "refunded") and month.
Revenue = dict[tuple[str, str], dict[str, int]]


def find_revenue(months: Months) -> Revenue:
    total = F("net_cents") + F("tax_cents")
    payments = Order.objects.annotate(event=Value("paid"), cents=total, at=F("paid_at"))
    refunds = Refund.objects.annotate(event=Value("refunded"), currency=F("order__currency"))
    sums = _sum_by_month(payments, months).union(_sum_by_month(refunds, months), all=True)
    revenue: Revenue = {(event, name): {} for event in ("paid", "refunded") for name in months}
    for event, currency, *numbers in sums.order_by("currency"):
        for name, cents in zip(months, numbers, strict=True):
            if cents:
                revenue[event, name][currency] = cents
    return revenue


def _sum_by_month(rows: "QuerySet[Any]", months: Months) -> "QuerySet[Any, Any]":
    conditions = {
        name: Q(("at__gte", start), ("at__lt", end)) for name, (start, end) in months.items()
    }
    sums = {
        f"sum_{name}": Sum("cents", filter=condition, default=0)
        for name, condition in conditions.items()
    }
    in_any = rows.order_by().filter(reduce(or_, conditions.values()))
    grouped: QuerySet[Any, Any] = in_any.values_list("event", "currency").annotate(**sums)
    return grouped
