from dataclasses import dataclass

from django.conf import settings
from django.db.models import F, Q, Sum
from django.utils import timezone

from accounts.models import Account
from credits.models import AutomaticOrder, AutomaticTopUp, Order, OrderState, Pack, SavedCard
from credits.models.automatic_top_ups import NEEDS_CREDITS
from credits.orders import quotes
from credits.plans.offers import OrderRefused
from runtime.dates import midnight, next_month

Pause, State = AutomaticTopUp.Pause, OrderState


def find_obstacle(top_up: AutomaticTopUp) -> AutomaticTopUp.Pause | None:
    """Return why no order can be placed, apart from the balance, or None."""
    if not SavedCard.objects.filter(account=top_up.account).exists():
        return Pause.NO_CARD
    price = offered_price(top_up.account, top_up.pack)
    if price is None:
        return Pause.PACK_GONE
    if top_up.currency != settings.CURRENCY:
        return Pause.CURRENCY
    if price > top_up.cap_cents:
        return Pause.PRICE
    spent = spent_cents(top_up.account, besides=top_up.open_order)
    return Pause.CAP if spent + price > top_up.cap_cents else None


@dataclass(frozen=True)
class Costs:
    obstacle: AutomaticTopUp.Pause | None
    price_cents: int | None
    spent_cents: int


def look_up_costs(top_up: AutomaticTopUp) -> Costs:
    return Costs(
        obstacle=find_obstacle(top_up),
        price_cents=offered_price(top_up.account, top_up.pack),
        spent_cents=spent_cents(top_up.account),
    )


def is_wanted(top_up: AutomaticTopUp) -> bool:
    order = top_up.open_order
    if order is None or not order.is_pending or find_obstacle(top_up):
        return False
    card = order.automatic.provider_card
    same_card = SavedCard.objects.filter(account=top_up.account, provider_card=card)
    fresh = AutomaticTopUp.objects.filter(NEEDS_CREDITS, pk=top_up.pk)
    return same_card.exists() and fresh.exists()


def offered_price(account: Account, pack: Pack) -> int | None:
    """Return the price with tax, or None if the pack can't be ordered."""
    if not Pack.objects.offered().filter(pk=pack.pk).exists():
        return None
    try:
        return quotes.quote(account, pack).amount.total_cents
    except OrderRefused:
        return None


def spent_cents(account: Account, *, besides: Order | None = None) -> int:
    """Count orders in the months they were placed and paid, so that none falls between months."""
    first = timezone.now().date().replace(day=1)
    start, end = midnight(first), midnight(next_month(first))
    in_month = Q(order__placed_at__gte=start, order__placed_at__lt=end)
    in_month |= Q(order__paid_at__gte=start, order__paid_at__lt=end)
    costs_money = Q(order__state__in=(State.PAID, State.REFUNDED))
    costs_money |= Q(order__state=State.PENDING, outcome=AutomaticOrder.Outcome.OPEN)
    orders = AutomaticOrder.objects.filter(in_month, costs_money, order__account=account)
    if besides is not None:
        orders = orders.exclude(order=besides)
    total = orders.aggregate(cents=Sum(F("order__net_cents") + F("order__tax_cents")))
    return total["cents"] or 0
