import pytest

from accounts.models import Account
from credits.models import Order, Pack, Plan
from tests.credits.customers import place_order
from tests.credits.payments.stripe_helpers import running, stripe
from tests.support.frozen_minute import freeze_time_but_not_processes

__all__ = ["freeze_time_but_not_processes", "running", "stripe"]


@pytest.fixture
def pack(db: None) -> Pack:
    """Return the smallest pack: 1,000 credits for USD 5."""
    return Pack.objects.earliest("credits")


@pytest.fixture
def order(account: Account, pack: Pack) -> Order:
    """An order of the smallest pack that waits for payment."""
    return place_order(account, pack)


@pytest.fixture
def plans(db: None) -> dict[str, Plan]:
    return {plan.code: plan for plan in Plan.objects.all()}
