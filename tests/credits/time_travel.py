"""Travel through months, one daily job at a time."""

from datetime import UTC, date, datetime, time

import time_machine

from accounts.models import Account
from credits.models import Subscription, Wallet
from credits.orders.daily_jobs import renew_subscriptions
from credits.payments import sync_all_with_provider
from runtime.jobs.daily import run_daily


def on(day: str, hour: int = 9) -> time_machine.travel:
    """Freeze time at this hour (UTC) of a day: `with on("2026-11-25"): …`."""
    moment = datetime.combine(date.fromisoformat(day), time(hour), UTC)
    return time_machine.travel(moment, tick=False)


def run_daily_jobs(day: str) -> None:
    """Run the daily jobs twice, because they have to be idempotent."""
    with on(day):
        run_daily()
        run_daily()


def renew_plans(day: str) -> None:
    """Run only the daily jobs that renew plans, here and at Stripe, also twice."""
    with on(day):
        for _ in range(2):
            renew_subscriptions()
            sync_all_with_provider()


def plan_and_balance(account: Account) -> tuple[str, int]:
    """Return the code of the plan, and the balance."""
    subscription = Subscription.objects.get(account=account)
    return subscription.plan.code, Wallet.objects.get(account=account).balance


def covered_until(account: Account) -> str:
    return str(Subscription.objects.get(account=account).covered_until)


def topped_up_until(account: Account) -> str:
    return str(Subscription.objects.get(account=account).topped_up_until)
