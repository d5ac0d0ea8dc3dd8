from collections.abc import Iterable

from django import template

from credits.models import Plan, Subscription
from credits.orders.quotes import Quote
from credits.presenters import checkout, invoice, orders, plans, prices
from credits.presenters.checkout import OrderTerms
from credits.presenters.plans import Change, PlanCard

register = template.Library()
register.filter(prices.plan_price)
register.filter(prices.plan_credits)
register.filter(prices.limit_after_purchase)
register.filter(orders.order_badge)
register.filter(orders.due_date)
register.filter(invoice.buyer_lines)
register.simple_tag(plans.describe_plan_change)
register.simple_tag(prices.card_price)


@register.simple_tag
def plan_notice(subscription: Subscription, upcoming: Change | None, is_due: bool) -> str:
    return plans.plan_notice(subscription, upcoming, is_due=is_due)


@register.simple_tag
def plan_cards(offered: Iterable[Plan], subscription: Subscription, is_due: bool) -> list[PlanCard]:
    return plans.plan_cards(offered, subscription, is_due=is_due)


@register.simple_tag
def order_terms(quote: Quote, current_limit: int) -> OrderTerms:
    return checkout.order_terms(
        kind=quote.kind,
        credits=quote.credits,
        price_cents=quote.item.price_cents,
        limits=(quote.requests_per_minute, current_limit),
        method=quote.method,
        begins_on=quote.period.start if quote.period else None,
        tax=quote.tax,
    )
