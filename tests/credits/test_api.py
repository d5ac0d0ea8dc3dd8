"""GET /v1/credits and GET /v1/me: what a key may ask about its account."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Account, User
from credits.models import Plan, Subscription, Wallet
from credits.orders.lifecycle import Buyer, fulfil_order, start_order
from credits.plans.subscriptions import choose_plan
from tests.credits.days import on
from tests.support.api_client import ApiClient

pytestmark = pytest.mark.django_db


def subscribe(account: Account, owner: User, plan: Plan) -> None:
    fulfil_order(order=start_order(account=account, item=plan, buyer=Buyer("Shop"), actor=owner))


def test_a_new_account_on_free(caller: ApiClient, account: Account) -> None:
    until = account.subscription.topped_up_until
    assert caller.get("/v1/credits").json() == {
        "balance": 100,
        "used_this_period": 0,
        "plan": "free",
        "next_grant": 100,
        "next_grant_at": f"{until}T00:00:00.000Z",
        "low_balance_threshold": 10,
    }


def test_what_was_used_in_this_period_is_counted_from_its_day_on(
    caller: ApiClient, account: Account, owner: User, plans: dict[str, Plan]
) -> None:
    caller.validate("no address")
    with on(str(timezone.now().date() + timedelta(days=1))):
        subscribe(account, owner, plans["starter"])
        for _ in range(3):
            caller.validate("no address")
        answer = caller.get("/v1/credits").json()
    assert (answer["balance"], answer["used_this_period"]) == (5_096, 3)
    assert (answer["plan"], answer["next_grant"]) == ("starter", 5_000)
    assert answer["low_balance_threshold"] == 500


def test_the_next_grant_is_that_of_the_plan_which_follows(
    caller: ApiClient, account: Account, owner: User, plans: dict[str, Plan]
) -> None:
    subscribe(account, owner, plans["growth"])
    choose_plan(account=account, plan=plans["starter"], actor=owner)
    answer = caller.get("/v1/credits").json()
    assert (answer["plan"], answer["next_grant"]) == ("growth", 5_000)


def test_who_will_be_granted_nothing_is_told_so(caller: ApiClient, account: Account) -> None:
    Subscription.objects.filter(account=account).update(gets_free_credits=False)
    answer = caller.get("/v1/credits").json()
    assert (answer["next_grant"], answer["next_grant_at"]) == (None, None)


def test_a_threshold_of_ones_own_is_shown(caller: ApiClient, account: Account) -> None:
    Wallet.objects.filter(account=account).update(low_balance_threshold=0)
    assert caller.get("/v1/credits").json()["low_balance_threshold"] == 0


def test_me_names_the_plan_and_its_limit(
    caller: ApiClient, account: Account, owner: User, plans: dict[str, Plan]
) -> None:
    assert caller.get("/v1/me").json()["plan"] == "free"
    subscribe(account, owner, plans["starter"])
    document = caller.get("/v1/me").json()
    assert list(document) == ["account", "key", "plan", "rate_limit"]
    assert (document["plan"], document["rate_limit"]["limit"]) == ("starter", 300)


@pytest.mark.parametrize("path", ["/v1/me", "/v1/credits", "/v1/usage"])
def test_asking_costs_nothing_and_works_at_balance_0(
    caller: ApiClient, account: Account, path: str
) -> None:
    Wallet.objects.filter(account=account).update(balance=0)
    answer = caller.get(path)
    assert answer.status_code == 200
    assert "X-Credits-Cost" not in answer.headers
