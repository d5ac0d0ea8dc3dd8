"""A key's credit limit per month (UTC): what counts, what is refused, and when it resets."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction

from accounts.models import Account, User
from apikeys import services
from apikeys.credit_limits import CreditUse
from apikeys.models import ApiKey
from credits.models import UseDay, UseHour, Wallet
from credits.services import deduct
from credits.wallet.books import find_discrepancies
from credits.wallet.charges import Charge, charge_account, refund
from credits.wallet.holds import charge_hold, hold_credits, release_hold
from credits.wallet.key_limits import KeyCreditLimitReached
from credits.wallet.totals import roll_up_days
from runtime.models import Mail
from tests.credits.time_travel import on
from tests.support.api_client import ApiClient, error_code
from validation.models import LogEntry

pytestmark = pytest.mark.django_db

DEFINITE, UNKNOWN, SANDBOX = "no address", "jane@ordinary-shop.com", "risky@sandbox.test"


def set_limit(key: ApiKey, limit: int | None, actor: User) -> None:
    services.change_key(
        key=key,
        name=key.name,
        allowed_networks=[],
        requests_per_minute=None,
        scopes=None,
        credits_per_month=limit,
        actor=actor,
    )


@pytest.fixture
def limited(key: ApiKey, owner: User) -> ApiKey:
    """Return the caller's key with a limit of 3 credits a month."""
    set_limit(key, 3, owner)
    return key


def use_of(key: ApiKey) -> CreditUse:
    return services.find_credit_use([ApiKey.objects.get(pk=key.pk)])[key.pk]


def used(key: ApiKey) -> tuple[int, int]:
    """Return what is charged and what is held, and check that the books agree."""
    assert not list(find_discrepancies())
    use = use_of(key)
    return use.charged, use.held


def send_batch(caller: ApiClient, count: int, **headers: str) -> Any:
    return caller.validate_batch([f"address {number}" for number in range(count)], **headers)


def charge(key: ApiKey, cost: int) -> None:
    """Charge the key in one step, as a batch does."""
    with transaction.atomic():
        charge_account(Charge(key.account, key, "risky", cost, 5, validations=cost))


def limit_emails() -> list[str]:
    reached = Mail.objects.filter(subject__contains="Credit limit reached")
    return sorted(reached.values_list("to", flat=True))


def warning_emails() -> list[str]:
    warned = Mail.objects.filter(subject__contains="of a credit limit used")
    return sorted(warned.values_list("to", flat=True))


def test_calls_beyond_the_limit_are_402_and_say_when_it_resets(
    limited: ApiKey, caller: ApiClient, account: Account
) -> None:
    with on("2026-11-25"):
        assert [caller.validate(DEFINITE).status_code for _ in range(3)] == [200] * 3
        response = caller.validate(DEFINITE)
    assert (response.status_code, error_code(response)) == (402, "key_credit_limit_reached")
    error = response.json()["error"]
    assert error["type"] == "billing_error"
    assert error["message"] == (
        "This request costs 1 credit, but its API key has a limit: 3 of 3 credits used in "
        "November. The limit resets on December 1 (UTC); raise it under Settings → API Keys."
    )
    key_url = error["details"].pop("key_url")
    assert key_url.endswith(f"/apikeys/{limited.public_id}/change/")
    assert error["details"] == {
        "required": 1,
        "limit": 3,
        "used": 3,
        "held": 0,
        "remaining": 0,
        "resets_at": "2026-12-01T00:00:00Z",
    }
    assert "Retry-After" not in response.headers
    assert Wallet.objects.get(account=account).balance == 97


def test_only_the_limited_key_is_refused_and_for_an_account_without_credits_first(
    limited: ApiKey, caller: ApiClient, account: Account, owner: User
) -> None:
    charge(limited, 3)
    _, secret = services.create_key(account=account, name="Other", actor=owner)
    assert ApiClient(secret).validate(DEFINITE).status_code == 200
    assert used(limited) == (3, 0)
    deduct(account=account, amount=96, reason="Test", actor=None)
    assert error_code(caller.validate(DEFINITE)) == "insufficient_credits"


def test_free_results_and_replays_do_not_count_and_work_when_the_limit_is_reached(
    limited: ApiKey, caller: ApiClient
) -> None:
    assert caller.validate(UNKNOWN).status_code == 200
    first = caller.validate(DEFINITE, Idempotency_Key="one")
    assert used(limited) == (1, 0)
    charge(limited, 2)
    again = caller.validate(DEFINITE, Idempotency_Key="one")
    assert again.content == first.content
    assert caller.validate(SANDBOX).status_code == 200
    assert caller.validate(DEFINITE, Idempotency_Key="two").status_code == 402
    assert used(limited) == (3, 0)


def test_batch_that_could_exceed_the_limit_is_refused_before_any_work(
    limited: ApiKey, caller: ApiClient
) -> None:
    charge(limited, 1)
    response = send_batch(caller, 3)
    assert (response.status_code, error_code(response)) == (402, "key_credit_limit_reached")
    details = response.json()["error"]["details"]
    assert (details["required"], details["remaining"]) == (3, 2)
    assert not LogEntry.objects.exclude(batch_id="").exists()
    assert send_batch(caller, 1).status_code == 200
    charged = send_batch(caller, 1, Idempotency_Key="batch")
    assert charged.status_code == 200
    assert send_batch(caller, 1, Idempotency_Key="batch").content == charged.content
    assert used(limited) == (3, 0)


def test_limit_resets_with_the_month_in_utc(limited: ApiKey) -> None:
    with on("2026-11-30", hour=23):
        charge(limited, 3)
        with pytest.raises(KeyCreditLimitReached):
            charge(limited, 1)
    with on("2026-12-01", hour=0):
        assert use_of(limited).used == 0
        charge(limited, 3)
        with pytest.raises(KeyCreditLimitReached):
            charge(limited, 1)
    with on("2027-01-01"):
        charge(limited, 1)
        assert use_of(limited).resets_on.isoformat() == "2027-02-01"


def test_days_that_were_added_up_still_count(limited: ApiKey) -> None:
    for day in ("2026-11-02", "2026-11-03"):
        with on(day):
            charge(limited, 1)
    with on("2026-11-20"):
        roll_up_days()
        assert (UseDay.objects.count(), UseHour.objects.open().count()) == (2, 0)
        charge(limited, 1)
        assert used(limited) == (3, 0)
        with pytest.raises(KeyCreditLimitReached):
            charge(limited, 1)


def test_refund_of_a_lost_charge_is_given_back(limited: ApiKey) -> None:
    with on("2026-11-02"):
        charge(limited, 3)
    with on("2026-11-20", hour=10):
        roll_up_days()
        moment = UseHour.objects.earliest("hour").hour
        refund(Charge(limited.account, limited, "risky", 1, 0), moment)
        assert used(limited) == (2, 0)
        charge(limited, 1)


def test_limit_counts_what_was_used_before_it_was_set(
    key: ApiKey, owner: User, caller: ApiClient
) -> None:
    charge(key, 5)
    set_limit(key, 5, owner)
    assert error_code(caller.validate(DEFINITE)) == "key_credit_limit_reached"
    set_limit(key, 6, owner)
    assert caller.validate(DEFINITE).status_code == 200
    set_limit(key, 2, owner)
    details = caller.validate(DEFINITE).json()["error"]["details"]
    assert (details["used"], details["remaining"]) == (6, 0)
    set_limit(key, None, owner)
    assert caller.validate(DEFINITE).status_code == 200


def test_rotated_keys_share_limit_and_use(limited: ApiKey, owner: User, caller: ApiClient) -> None:
    charge(limited, 1)
    second, _ = services.rotate_key(key=limited, grace=timedelta(days=7), actor=owner)
    third, secret = services.rotate_key(key=second, grace=timedelta(days=7), actor=owner)
    assert third.credits_per_month == 3
    assert used(third) == (1, 0)
    assert ApiClient(secret).validate(DEFINITE).status_code == 200
    assert caller.validate(DEFINITE).status_code == 200
    for refused in (ApiClient(secret), caller):
        assert error_code(refused.validate(DEFINITE)) == "key_credit_limit_reached"
    assert {used(key) for key in (limited, second, third)} == {(3, 0)}


def test_hold_counts_until_it_is_charged_or_released(limited: ApiKey, account: Account) -> None:
    with on("2026-11-30"):
        hold = hold_credits(account=account, amount=3, source="list:1", reason="x", key=limited)
        assert used(limited) == (0, 3)
        with pytest.raises(KeyCreditLimitReached) as refused:
            charge(limited, 1)
        assert "(3 of them held for work in progress)" in refused.value.message
        charge_hold(hold=hold, charges=[Charge(account, limited, "risky", 1, None)])
        assert used(limited) == (1, 2)
    with on("2026-12-01"):
        # What is still held is charged in this month.
        assert used(limited) == (0, 2)
        charge_hold(hold=hold, charges=[Charge(account, limited, "risky", 1, None)])
        release_hold(hold=hold)
        assert used(limited) == (1, 0)
        charge(limited, 2)


def test_hold_beyond_the_limit_is_refused_and_holds_nothing(
    limited: ApiKey, account: Account
) -> None:
    charge(limited, 1)
    with pytest.raises(KeyCreditLimitReached) as refused:
        hold_credits(account=account, amount=3, source="list:1", reason="x", key=limited)
    assert refused.value.details["remaining"] == 2
    assert Wallet.objects.get(account=account).held == 0
    # A list of the dashboard has no key.
    hold_credits(account=account, amount=50, source="list:2", reason="x")
    assert used(limited) == (1, 0)


def test_reached_limit_is_announced_once_a_month(
    limited: ApiKey, owner: User, account: Account
) -> None:
    with on("2026-11-25"):
        charge(limited, 2)
        assert limit_emails() == []
        charge(limited, 1)
        assert limit_emails() == [owner.email]
        refund(Charge(account, limited, "risky", 1, 0), UseHour.objects.latest("hour").hour)
        charge(limited, 1)
        assert limit_emails() == [owner.email]
    with on("2026-12-02"):
        hold_credits(account=account, amount=3, source="list:1", reason="x", key=limited)
        assert limit_emails() == [owner.email] * 2
    text = Mail.objects.filter(subject__contains="Credit limit").latest("pk").text
    assert "3 of 3 credits used in December (3 of them held for work in progress)." in text
    assert "Requests that cost credits are refused until January 1 (UTC)." in text


def test_email_says_once_a_month_that_most_of_a_limit_is_used(
    limited: ApiKey, owner: User, account: Account
) -> None:
    set_limit(limited, 10, owner)
    with on("2026-11-25"):
        charge(limited, 7)
        assert warning_emails() == []
        charge(limited, 2)
        assert warning_emails() == [owner.email]
        refund(Charge(account, limited, "risky", 2, 0), UseHour.objects.latest("hour").hour)
        charge(limited, 1)
        assert warning_emails() == [owner.email]
    email = Mail.objects.filter(subject__contains="of a credit limit used").get()
    assert email.subject == f"90% of a credit limit used in The Shop: {limited.name}"
    assert "9 of 10 credits used in November." in " ".join(email.text.split())
    with on("2026-12-02"):
        hold_credits(account=account, amount=8, source="list:1", reason="x", key=limited)
        assert warning_emails() == [owner.email] * 2
    assert limit_emails() == []


def test_limit_that_is_reached_at_once_sends_no_warning(
    limited: ApiKey, owner: User, account: Account
) -> None:
    set_limit(limited, 10, owner)
    charge(limited, 10)
    refund(Charge(account, limited, "risky", 5, 0), UseHour.objects.latest("hour").hour)
    charge(limited, 4)
    assert warning_emails() == []
    assert limit_emails() == [owner.email]


def test_limit_is_announced_again_only_if_it_was_changed(
    limited: ApiKey, owner: User, account: Account
) -> None:
    read_before = ApiKey.objects.get(pk=limited.pk)
    charge(limited, 3)
    assert limit_emails() == [owner.email]
    # A page that was open is saved.
    set_limit(read_before, 3, owner)
    refund(Charge(account, limited, "risky", 1, 0), UseHour.objects.latest("hour").hour)
    charge(limited, 1)
    assert limit_emails() == [owner.email]
    set_limit(ApiKey.objects.get(pk=limited.pk), 4, owner)
    charge(limited, 1)
    assert limit_emails() == [owner.email] * 2
