"""GET /v1/credits and GET /v1/me."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Account
from credits.models import Subscription, Wallet
from tests.credits.customers import pay, place_order, schedule_lower_plan
from tests.credits.time_travel import on
from tests.support.api_client import ApiClient

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def test_new_account_on_free_has_its_first_credits(caller: ApiClient, account: Account) -> None:
    until = account.subscription.topped_up_until
    assert caller.get("/v1/credits").json() == {
        "balance": 100,
        "held": 0,
        "used_this_period": 0,
        "plan": "free",
        "next_grant": 100,
        "next_grant_at": f"{until}T00:00:00.000Z",
        "low_balance_threshold": 10,
    }


@pytest.mark.both
def test_usage_of_the_current_period_is_counted_from_its_first_day(
    caller: ApiClient, account: Account
) -> None:
    caller.validate("no address")
    with on(str(timezone.now().date() + timedelta(days=1))):
        pay(place_order(account, "starter"))
        for _ in range(3):
            caller.validate("no address")
        response = caller.get("/v1/credits").json()
    assert (response["balance"], response["used_this_period"]) == (5_096, 3)
    assert (response["plan"], response["next_grant"]) == ("starter", 5_000)
    assert response["low_balance_threshold"] == 500


def test_next_grant_is_that_of_the_next_plan(caller: ApiClient, account: Account) -> None:
    pay(place_order(account, "growth"))
    schedule_lower_plan(account, "starter")
    response = caller.get("/v1/credits").json()
    assert (response["plan"], response["next_grant"]) == ("growth", 5_000)


def test_custom_threshold_is_shown_and_no_next_grant_without_monthly_credits(
    caller: ApiClient, account: Account
) -> None:
    Subscription.objects.filter(account=account).update(gets_free_credits=False)
    Wallet.objects.filter(account=account).update(low_balance_threshold=0)
    response = caller.get("/v1/credits").json()
    assert (response["next_grant"], response["next_grant_at"]) == (None, None)
    assert response["low_balance_threshold"] == 0


def test_me_names_the_plan_and_its_limit(caller: ApiClient, account: Account) -> None:
    assert caller.get("/v1/me").json()["plan"] == "free"
    pay(place_order(account, "starter"))
    document = caller.get("/v1/me").json()
    assert list(document) == ["account", "key", "plan", "rate_limit"]
    assert (document["plan"], document["rate_limit"]["limit"]) == ("starter", 300)


def test_account_endpoints_are_free_and_work_at_balance_0(
    caller: ApiClient, account: Account
) -> None:
    Wallet.objects.filter(account=account).update(balance=0)
    for path in ("/v1/me", "/v1/credits", "/v1/usage"):
        response = caller.get(path)
        assert response.status_code == 200, path
        assert "X-Credits-Cost" not in response.headers
