"""Which plan an account has, and what follows from it: its rate limit and what a low balance is."""

from datetime import date

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from accounts import audit
from accounts.models import Account, User
from credits.models import Order, Plan, Subscription, Wallet
from credits.periods import period_of


class PlanRefused(Exception):
    """What the rules of plans do not allow; the text is for the person who tried."""


def open_books(*, account: Account, user: User) -> None:
    """Seam: an account was opened. It begins on the Free plan, with nothing in its wallet."""
    make_books(account, Plan.objects.free())


def make_books(account: Account, free: Plan) -> None:
    today = timezone.now().date()
    Wallet.objects.create(account=account, usual_threshold=free.usual_threshold)
    Subscription.objects.create(
        account=account,
        plan=free,
        started_on=today,
        covered_until=period_of(today, today).end,
    )
    set_terms(account)


def locked(account: Account) -> Subscription:
    """Who changes plans or orders of an account holds its row; callers that charge do not wait."""
    Account.objects.select_for_update(no_key=True).get(pk=account.pk)
    return Subscription.objects.select_related("account", "plan", "next_plan").get(account=account)


def set_terms(account: Account) -> None:
    """The highest limit of the plan and of the packs that are paid for."""
    plan = Subscription.objects.select_related("plan").get(account=account).plan
    paid = account.orders.filter(state=Order.State.PAID, kind=Order.Kind.PACK)
    of_packs = paid.aggregate(most=Max("requests_per_minute"))["most"] or 0
    limit = max(plan.requests_per_minute, of_packs)
    Account.objects.filter(pk=account.pk).update(requests_per_minute=limit)
    Wallet.objects.filter(account=account).update(usual_threshold=plan.usual_threshold)


@transaction.atomic
def apply_new_terms(plan: Plan) -> int:
    """Staff changed a plan: for how many accounts it holds from now on."""
    subscriptions = Subscription.objects.filter(plan=plan).select_related("account")
    for subscription in subscriptions:
        set_terms(subscription.account)
    return len(subscriptions)


@transaction.atomic
def choose_lower_plan(
    *, account: Account, plan: Plan, actor: User, ip: str | None = None
) -> Subscription:
    """From the end of what is paid for. The plan one has, chosen again, takes it back."""
    subscription = locked(account)
    if plan == subscription.plan:
        subscription.next_plan = subscription.next_plan_on = None
    elif plan.price_cents < subscription.plan.price_cents:
        subscription.next_plan = plan
        subscription.next_plan_on = subscription.covered_until
    else:
        raise PlanRefused(f"{plan} is not lower than your plan {subscription.plan}.")
    subscription.save(update_fields=["next_plan", "next_plan_on"])
    # An invoice for what will not be is withdrawn; the day's work writes the right one.
    waiting = account.orders.pending().of_plans()
    waiting.exclude(plan=subscription.following_plan).update(
        state=Order.State.CANCELLED, cancelled_at=timezone.now()
    )
    target = f"{subscription.plan} → {plan} on {subscription.next_plan_on or 'no day'}"
    audit.record(account, actor, "plan.change_chosen", target, ip)
    turn_over(subscription, timezone.now().date())
    return subscription


@transaction.atomic
def change_plan_by_staff(
    *, account: Account, plan: Plan, reason: str, actor: User, ip: str | None = None
) -> None:
    """At once, without an order and without credits: those are a grant."""
    subscription = locked(account)
    before = subscription.plan
    if before == plan:
        raise PlanRefused(f"{account} has the plan {plan} already.")
    start_period(subscription, plan, timezone.now().date())
    cancel_waiting(account)
    audit.record(account, actor, "plan.changed_by_staff", f"{before} → {plan}: {reason}", ip)


def start_period(subscription: Subscription, plan: Plan, day: date) -> None:
    """From this day on, with a period that begins on it."""
    subscription.started_on = day
    subscription.covered_until = period_of(day, day).end
    have(subscription, plan)


def have(subscription: Subscription, plan: Plan) -> None:
    subscription.plan = plan
    subscription.next_plan = subscription.next_plan_on = None
    subscription.save()
    set_terms(subscription.account)


def turn_over(subscription: Subscription, day: date) -> None:
    """A lower plan that was chosen for this day, or one before, begins."""
    if subscription.next_plan and subscription.next_plan_on and day >= subscription.next_plan_on:
        have(subscription, subscription.next_plan)


def cancel_waiting(account: Account, *kinds: str) -> None:
    waiting = account.orders.pending().of_plans()
    if kinds:
        waiting = waiting.filter(kind__in=kinds)
    waiting.update(state=Order.State.CANCELLED, cancelled_at=timezone.now())
