"""Concurrent charges and holds of keys with a credit limit, each on its own connection."""

from collections import Counter
from datetime import timedelta

import pytest

from accounts.models import User
from apikeys.models import ApiKey
from apikeys.services import find_credit_use, rotate_key
from credits.models import Hold, UseHour
from credits.wallet.books import find_discrepancies
from credits.wallet.holds import hold_credits
from credits.wallet.key_limits import KeyCreditLimitReached
from runtime.models import Mail
from tests.support.fresh_database import run_concurrently
from tests.validation.charging.test_settlement import (
    UNKNOWN,
    get_balance,
    make_shop_key,
    make_validation,
)
from validation.charging.settlement import _process_account_queue, charge_and_record
from validation.models import LogEntry
from validation.validations import ValidationResponse

pytestmark = pytest.mark.usefixtures("fresh_database")


def make_limited_key(limit: int) -> ApiKey:
    key = make_shop_key("shop", 1_000)
    ApiKey.objects.filter(pk=key.pk).update(credits_per_month=limit)
    key.credits_per_month = limit
    return key


def rotate(key: ApiKey) -> ApiKey:
    replacement, _ = rotate_key(key=key, grace=timedelta(days=1), actor=User.objects.get())
    return ApiKey.objects.select_related("account__wallet").get(pk=replacement.pk)


def test_concurrent_calls_of_rotated_keys_share_exactly_the_limit() -> None:
    old = make_limited_key(10)
    keys = [old, rotate(old)]
    outcomes = run_concurrently(
        24, lambda number: charge_and_record(make_validation(keys[number % 2]))
    )
    assert Counter(map(type, outcomes)) == {ValidationResponse: 10, KeyCreditLimitReached: 14}
    assert UseHour.objects.all().credits() == LogEntry.objects.count() == 10
    assert get_balance(old) == 990
    assert not list(find_discrepancies())


def test_concurrent_holds_and_calls_never_exceed_the_limit() -> None:
    key = make_limited_key(100)

    def act(number: int) -> object:
        if number % 3:
            return charge_and_record(make_validation(key))
        source = f"list:{number}"
        return hold_credits(account=key.account, amount=30, source=source, reason="x", key=key)

    outcomes = run_concurrently(24, act)
    assert {type(outcome) for outcome in outcomes} <= {
        *(Hold, ValidationResponse, KeyCreditLimitReached)
    }
    use = find_credit_use([key])[key.pk]
    assert use.held == 30 * sum(isinstance(outcome, Hold) for outcome in outcomes)
    assert use.charged == sum(isinstance(outcome, ValidationResponse) for outcome in outcomes)
    assert 70 < use.used <= 100
    assert not list(find_discrepancies())


def test_queue_that_exceeds_the_limit_is_charged_one_by_one() -> None:
    key = make_limited_key(2)
    queue = [make_validation(key, email) for email in ("a", UNKNOWN, "b", "c")]
    outcomes = _process_account_queue(queue)
    balances = [getattr(outcome, "balance", type(outcome)) for outcome in outcomes]
    assert balances == [999, 999, 998, KeyCreditLimitReached]
    assert LogEntry.objects.count() == 3


@pytest.mark.parametrize(
    ("limit", "new_calls", "subject"),
    [(2, 1, "Credit limit reached"), (10, 8, "90% of a credit limit used")],
)
def test_rotated_keys_that_near_or_reach_their_limit_together_send_one_email(
    limit: int, new_calls: int, subject: str
) -> None:
    old = make_limited_key(limit)
    queue = [old, *[rotate(old)] * new_calls]
    outcomes = _process_account_queue(list(map(make_validation, queue)))
    balances = [getattr(outcome, "balance", outcome) for outcome in outcomes]
    assert balances == list(range(999, 998 - new_calls, -1))
    assert Mail.objects.filter(subject__startswith=subject).count() == 1
