"""Place automatic orders. Each function locks the account, then the row of settings."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.models import Account
from credits import emails
from credits.automatic_top_ups.rules import find_obstacle
from credits.automatic_top_ups.services import switch_off
from credits.models import AutomaticOrder, AutomaticTopUp, Order, SavedCard
from credits.orders import placement, quotes
from credits.plans import subscriptions
from runtime.metrics.client import Counter, initialize

Outcome = AutomaticOrder.Outcome

PAUSE = timedelta(minutes=10)
MAX_FAILURES = 2

results = Counter(
    "emailvalidation_automatic_top_up_orders",
    "Orders of automatic top-ups, by result: paid, failed, abandoned (no longer wanted).",
    ("result",),
)
initialize(results, ("paid", "failed", "abandoned"))


def unpaid_orders(account: Account) -> list[Order]:
    pending = account.orders.pending().filter(automatic__outcome=Outcome.FAILED)
    return list(pending)


@transaction.atomic
def place_order(top_up: AutomaticTopUp) -> AutomaticOrder | None:
    """Return None if no order is due, or if an obstacle pauses it."""
    account = top_up.account
    subscriptions.lock_subscription(account)
    if not top_up.lock_if_held():
        return None
    current = AutomaticTopUp.objects.needing_order().filter(pk=top_up.pk).first()
    if current is None:
        return None
    obstacle = find_obstacle(current)
    if obstacle is not None:
        _pause(current, obstacle)
        return None
    for unpaid in unpaid_orders(account):
        placement.cancel_order(order=unpaid)
    order = placement.place_automatic_order(quote=quotes.quote(account, current.pack))
    AutomaticTopUp.objects.filter(pk=current.pk).update(
        open_order=order, last_order_at=order.placed_at, paused_for=""
    )
    card = SavedCard.objects.get(account=account)
    return AutomaticOrder.objects.create(order=order, provider_card=card.provider_card)


def _pause(top_up: AutomaticTopUp, obstacle: AutomaticTopUp.Pause) -> None:
    rows = AutomaticTopUp.objects.filter(pk=top_up.pk)
    rows.update(paused_for=obstacle, next_attempt_at=timezone.now() + PAUSE)
    if obstacle != top_up.paused_for:
        audit.record(top_up.account, None, "top_up.paused", obstacle.label)
        emails.queue_top_up_paused(account=top_up.account, reason=obstacle.label)


@transaction.atomic
def record_paid(order: Order) -> None:
    """The caller fulfills the order."""
    if _end(order, Outcome.PAID):
        AutomaticTopUp.objects.filter(account=order.account).update(failures=0, paused_for="")


@transaction.atomic
def record_failed(order: Order, failure: str) -> None:
    """Record a failed payment and email a link to pay, once.

    A second failure in a row switches automatic top-up off.
    """
    if not _end(order, Outcome.FAILED, failure=failure[:50]):
        return
    account = order.account
    Order.objects.filter(pk=order.pk).update(payment_failed_at=timezone.now())
    audit.record(account, None, "order.payment_failed", str(order))
    top_up = AutomaticTopUp.objects.get(account=account)
    top_up.failures += 1
    top_up.save(update_fields=["failures"])
    is_off = top_up.failures >= MAX_FAILURES and switch_off(
        account=account, reason=AutomaticTopUp.Off.FAILURES
    )
    emails.queue_top_up_failed(order=order, failure=failure, is_off=bool(is_off))


@transaction.atomic
def record_abandoned(order: Order) -> None:
    if _end(order, Outcome.ABANDONED):
        placement.cancel_order(order=order)


def _end(order: Order, outcome: AutomaticOrder.Outcome, **changes: str) -> bool:
    """Store the outcome, or return False if it has one."""
    subscriptions.lock_subscription(order.account)
    rows = AutomaticTopUp.objects.filter(account=order.account, open_order=order)
    if not rows.update(open_order=None):
        return False
    AutomaticOrder.objects.filter(order=order).update(outcome=outcome, **changes)
    transaction.on_commit(lambda: results.labels(outcome.value).inc())
    return True
