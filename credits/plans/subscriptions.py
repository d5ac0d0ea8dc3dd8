"""Which plan an account has, and what follows from it: its rate limit and what a low balance is."""

from datetime import date, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from accounts import audit
from accounts.models import Account, User
from credits import emails
from credits.models import Order, Plan, ProviderCancellation, Subscription, Wallet
from credits.periods import Period, period_of
from credits.plans.coverage import GRACE, Coverage, PaidMonth, Standing, month_from, standing

Kind, State = Order.Kind, Order.State


class PlanRefused(Exception):
    """What the rules of plans do not allow; the text is for the person who tried."""


def open_books(*, account: Account, user: User) -> None:
    """Seam: an account was opened. It begins on the Free plan, with nothing in its wallet."""
    free, today = Plan.objects.free(), timezone.now().date()
    Wallet.objects.create(account=account, usual_threshold=free.usual_threshold)
    Subscription.objects.create(
        account=account,
        plan=free,
        next_plan=free,
        started_on=today,
        topped_up_until=period_of(today, today).end,
    )
    set_terms(account)


def close_books(*, account: Account, actor: User) -> None:
    """Seam: an account was closed. Nothing of it is to be paid any more."""
    subscription = lock_subscription(account)
    account.orders.pending().cancel()
    cancel_at_provider(subscription)


def lock_subscription(account: Account) -> Subscription:
    """Who changes plans or orders of an account holds its row; callers that charge do not wait."""
    Account.objects.select_for_update(no_key=True).get(pk=account.pk)
    return Subscription.objects.with_plans().get(account=account)


def set_terms(account: Account) -> None:
    """The highest limit of the plan and of the packs that are paid for."""
    plan = Subscription.objects.select_related("plan").get(account=account).plan
    paid = account.orders.filter(state=State.PAID, kind=Kind.PACK)
    of_packs = paid.aggregate(most=Max("requests_per_minute"))["most"] or 0
    limit = max(plan.requests_per_minute, of_packs)
    Account.objects.filter(pk=account.pk).update(requests_per_minute=limit)
    Wallet.objects.filter(account=account).update(usual_threshold=plan.usual_threshold)


def apply_new_terms(plan: Plan) -> int:
    """Staff changed a plan: for how many accounts it holds from now on. Each is a transaction of
    its own, so that a large plan does not hold up its customers."""
    accounts = Account.objects.filter(subscription__plan=plan).order_by("pk")
    for account in accounts:
        with transaction.atomic():
            lock_subscription(account)
            set_terms(account)
    return len(accounts)


def coverage_of(account: Account) -> Coverage:
    paid = account.orders.filter(state=State.PAID, period_end__isnull=False).select_related("plan")
    return Coverage.of(
        PaidMonth(order.plan, order.period_start, order.period_end, order.kind == Kind.UPGRADE)
        for order in paid
        if order.plan and order.period_start and order.period_end
    )


def standing_of(subscription: Subscription, coverage: Coverage | None = None) -> Standing:
    """`coverage`: for who read it already."""
    today, coverage = timezone.now().date(), coverage or coverage_of(subscription.account)
    told_on = _told_on(subscription, coverage.ended(today), today)
    return standing(coverage, wanted=subscription.next_plan, day=today, told_on=told_on)


def _told_on(subscription: Subscription, ended: date | None, today: date) -> date:
    """When its renewal was written first: one that is written anew gives no further days."""
    if ended is None or subscription.renews_itself:
        return date.min
    asked = subscription.account.orders.filter(kind=Kind.RENEWAL, period_start__gte=ended)
    first = asked.order_by("placed_at").first()
    return first.placed_at.date() if first else today


def recompute_plan(subscription: Subscription) -> Standing:
    """After anything that may change the plan, and each day. The account is locked."""
    now, before = standing_of(subscription), subscription.plan
    subscription.plan = now.plan or Plan.objects.free()
    subscription.covered_until = now.covered_until
    was_not_paid = now.plan is None and not subscription.next_plan.is_free
    if was_not_paid:
        subscription.next_plan = subscription.plan
        cancel_waiting(subscription.account)
    if now.plan is None:
        cancel_at_provider(subscription)
    subscription.save()
    set_terms(subscription.account)
    if was_not_paid and not before.is_free:
        emails.queue_plan_ended(account=subscription.account, plan=before)
    return now


def place_month(subscription: Subscription) -> Period:
    """The month that a plan order pays for, which is known when it is paid: the one after what is
    covered or due; else one that begins today."""
    today, now = timezone.now().date(), standing_of(subscription)
    if now.plan is not None and now.covered_until is not None:
        return month_from(now.covered_until, subscription.started_on)
    subscription.started_on = today
    return period_of(today, today)


def deadline(subscription: Subscription, starts: date) -> date:
    """Until when the month that starts then has to be paid."""
    today = timezone.now().date()
    return max(starts, _told_on(subscription, starts, today)) + GRACE


@transaction.atomic
def choose_plan(
    *, account: Account, plan: Plan, actor: User, ip: str | None = None
) -> Subscription:
    """From the end of what is paid for: a plan that costs no more than the present one."""
    subscription = lock_subscription(account)
    if plan.price_cents > subscription.plan.price_cents:
        raise PlanRefused(f"{plan} is not lower than your plan {subscription.plan}: order it.")
    subscription.next_plan = plan
    subscription.save(update_fields=["next_plan"])
    # An invoice for what will not be is withdrawn; the day's work writes the right one.
    account.orders.pending().filter(kind=Kind.RENEWAL).exclude(plan=plan).cancel()
    recompute_plan(subscription)
    audit.record(account, actor, "plan.chosen", f"{plan} after {subscription.covered_until}", ip)
    return subscription


@transaction.atomic
def give_plan(
    *, account: Account, plan: Plan, reason: str, actor: User, ip: str | None = None
) -> Subscription:
    """By staff: at once, for a month, without credits, which are a grant. What was paid ends."""
    subscription = lock_subscription(account)
    before, today = subscription.plan, timezone.now().date()
    if before == plan:
        raise PlanRefused(f"{account} has the plan {plan} already.")
    cancel_waiting(account)
    paid = account.orders.filter(state=State.PAID, period_end__gt=today)
    paid.filter(period_start__gt=today).update(period_start=today)
    paid.update(period_end=today)
    subscription.started_on, subscription.next_plan = today, plan
    if not plan.is_free:
        _write_gift(account, plan, period_of(today, today), actor)
    recompute_plan(subscription)
    audit.record(account, actor, "plan.given_by_staff", f"{before} → {plan}: {reason}", ip)
    return subscription


def _write_gift(account: Account, plan: Plan, month: Period, actor: User) -> None:
    now = timezone.now()
    Order.objects.create(
        account=account,
        kind=Kind.GIFT,
        state=State.PAID,
        method=Order.Method.NONE,
        plan=plan,
        description=f"{plan} plan, given by our staff",
        credits=0,
        net_cents=0,
        tax_cents=0,
        tax_rate=0,
        currency=settings.CURRENCY,
        buyer_name=account.name,
        placed_by="our staff",
        due_on=now.date(),
        paid_at=now,
        period_start=month.start,
        period_end=month.end,
    )


def cancel_waiting(account: Account) -> None:
    """Plans that were ordered and not paid; packs wait on."""
    account.orders.pending().of_plans().cancel()


def cancel_at_provider(subscription: Subscription) -> None:
    """Whoever renews it by itself is to stop: told as soon as this is committed, or by the day's
    work."""
    known = subscription.provider_subscription
    if known:
        ProviderCancellation.objects.get_or_create(
            provider_subscription=known, defaults={"account": subscription.account}
        )
        subscription.provider_subscription = subscription.provider_plan = ""
        subscription.save(update_fields=["provider_subscription", "provider_plan"])


def coming_change(subscription: Subscription, coverage: Coverage) -> tuple[date, Plan] | None:
    """What the plan will be next, and when, as far as it is known today."""
    today = timezone.now().date()
    paid = coverage.next_change(today)
    if paid:
        return paid
    end = coverage.end(today)
    last = coverage.plan_on(end - timedelta(days=1)) if end > today else None
    return (end, subscription.next_plan) if last and last != subscription.next_plan else None


def next_grant(subscription: Subscription) -> tuple[int | None, date | None]:
    """How many credits the following month brings, and when it begins; nothing where none will
    come. What is due already comes today."""
    plan, today = subscription.next_plan, timezone.now().date()
    if not plan.is_free:
        return plan.monthly_credits, max(subscription.covered_until or today, today)
    if not subscription.is_topped_up:
        return None, None
    ends = subscription.covered_until if not subscription.plan.is_free else None
    return plan.monthly_credits, max(ends or subscription.topped_up_until, today)
