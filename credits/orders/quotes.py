from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal

from django.conf import settings
from django.utils import timezone

from accounts.models import Account
from credits.models import Order, OrderKind, OrderMethod, OrderState, Pack, Plan, Subscription
from credits.money import TaxedPrice, with_tax, without_tax
from credits.orders.tax import Tax, has_vat_ids, tax_for
from credits.plans.offers import OrderOffer, OrderRefused, offer_plan, offer_renewal
from credits.plans.periods import Period
from credits.plans.subscriptions import current_status, load_coverage


@dataclass(frozen=True)
class Buyer:
    name: str
    address: str = ""
    tax_id: str = ""
    country: str = ""


@dataclass(frozen=True)
class Quote:
    account: Account
    item: Pack | Plan
    kind: OrderKind
    description: str
    credits: int
    requests_per_minute: int
    amount: TaxedPrice
    tax: Tax
    # The tax rate for buyers in the seller's country.
    usual_rate: Decimal
    currency: str
    method: OrderMethod
    # The days of an upgrade or renewal.
    period: Period | None
    # Orders that this one cancels.
    replaced: tuple[Order, ...]
    # A pending order on the same terms, which isn't placed again.
    pending: Order | None = None

    @property
    def terms(self) -> str:
        days = f"{self.period.start} {self.period.end}" if self.period else "none"
        net = f"{self.amount.net_cents} {self.currency} net of {self.usual_rate}"
        limit = self.requests_per_minute
        item = f"{self.kind}: {self.credits}, {limit}, {net}, {self.method}, {days}"
        return f"{item}; {self.amount.tax_cents} {self.tax.reason}".strip()

    @property
    def can_save_card(self) -> bool:
        """Return whether to ask about the card, which plans always save."""
        return self.kind == OrderKind.PACK and self.method == OrderMethod.STRIPE

    def differs_in_tax(self, terms: str) -> bool:
        """Return whether only the country or VAT ID differs."""
        return terms != self.terms and terms.rpartition("; ")[0] == self.terms.rpartition("; ")[0]


class QuoteChanged(OrderRefused):
    def __init__(self) -> None:
        super().__init__(
            "The terms have changed since you opened this page, so your order wasn't placed. "
            "Review them, then order again."
        )


def last_buyer(account: Account) -> Buyer:
    order = account.orders.exclude(kind=OrderKind.GIFT).first()
    if order is None:
        return Buyer(account.name)
    return Buyer(order.buyer_name, order.buyer_address, order.buyer_tax_id, order.buyer_country)


def quote(account: Account, item: Pack | Plan, buyer: Buyer | None = None) -> Quote:
    """Quote today's terms, or raise OrderRefused. `buyer`: by default the last order's."""
    tax = _tax(buyer or last_buyer(account))
    if isinstance(item, Pack):
        offer = OrderOffer(OrderKind.PACK, str(item), item.credits, item.price_cents)
        return _quote(account, item, offer, tax)
    subscription = Subscription.objects.with_plans().get(account=account)
    coverage = load_coverage(account)
    offer = offer_plan(
        item,
        coverage=coverage,
        status=current_status(subscription, coverage),
        started_on=subscription.started_on,
        day=timezone.now().date(),
    )
    replaced = account.orders.pending().for_plans()
    if offer.kind != OrderKind.RENEWAL:
        # A renewal stays pending until an upgrade is paid.
        replaced = replaced.exclude(kind=OrderKind.RENEWAL)
    new = _quote(account, item, offer, tax, replaced)
    same_terms = account.orders.pending().filter(
        plan=item,
        kind=new.kind,
        credits=new.credits,
        net_cents=new.amount.net_cents,
        tax_cents=new.amount.tax_cents,
        tax_reason=new.tax.reason,
        currency=new.currency,
        method=new.method,
    )
    pending = same_terms.first()
    return replace(new, pending=pending, replaced=()) if pending else new


def quote_again(shown: Quote, buyer: Buyer | None = None) -> Quote:
    """Raise QuoteChanged if the terms differ."""
    packs, plans = Pack.objects.offered(), Plan.objects.offered()
    rows = packs if isinstance(shown.item, Pack) else plans
    item = rows.filter(pk=shown.item.pk).first()
    if item is None:
        raise OrderRefused(f"{shown.item} is no longer offered.")
    current = quote(shown.account, item, buyer)
    if current.terms != shown.terms:
        raise QuoteChanged
    return current


def quote_renewal(
    account: Account, plan: Plan, month: Period, paid_cents: int | None = None
) -> Quote:
    """`paid_cents` is what a provider was paid."""
    tax = _renewal_tax(account, plan, paid_cents)
    net_cents = without_tax(paid_cents, tax.rate) if paid_cents is not None else None
    renewals = account.orders.pending().filter(kind=OrderKind.RENEWAL)
    return _quote(account, plan, offer_renewal(plan, month, net_cents), tax, renewals)


def price_with_tax(account: Account, plan: Plan) -> int:
    return with_tax(plan.price_cents, _tax(last_buyer(account)).rate).total_cents


def _tax(buyer: Buyer) -> Tax:
    vat_id = buyer.tax_id if has_vat_ids(buyer.country) else ""
    return tax_for(settings.SELLER_COUNTRY, buyer.country, vat_id, settings.TAX_RATE)


def _renewal_tax(account: Account, plan: Plan, paid_cents: int | None) -> Tax:
    """Return today's tax, or the last order's if its price was paid."""
    tax = _tax(last_buyer(account))
    if paid_cents in (None, with_tax(plan.price_cents, tax.rate).total_cents):
        return tax
    last = account.orders.filter(plan=plan, state=OrderState.PAID).first()
    if last is None or last.total_cents != paid_cents:
        return tax
    return Tax(last.tax_rate, last.tax_reason)


def _quote(
    account: Account, item: Pack | Plan, offer: OrderOffer, tax: Tax, replaced: Iterable[Order] = ()
) -> Quote:
    return Quote(
        account=account,
        item=item,
        kind=offer.kind,
        description=offer.description,
        credits=offer.credits,
        requests_per_minute=item.requests_per_minute,
        amount=with_tax(offer.net_cents, tax.rate),
        tax=tax,
        usual_rate=settings.TAX_RATE,
        currency=settings.CURRENCY,
        method=OrderMethod.STRIPE if settings.STRIPE_SECRET_KEY else OrderMethod.INVOICE,
        period=offer.period,
        replaced=tuple(replaced),
    )
