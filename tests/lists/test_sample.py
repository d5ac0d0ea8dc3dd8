"""POST /v1/lists/{id}/sample: a free estimate of the verdicts of a list."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Account
from credits.models import UseHour, Wallet
from lists.models import AddressList, ListSample
from lists.models.states import ListState
from lists.results.sample import MIN_ADDRESSES, pick_addresses, wilson_interval
from tests.lists.results_factory import make_ready_list, set_state
from tests.support.api_client import ApiClient, error_code
from validation.models import LogEntry

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

# Three of four have invalid syntax, and none needs the DNS.
MIXED = b"".join(
    b"%s%d@localhost\n" % (b"jane" if number % 4 == 0 else b"..jane", number)
    for number in range(MIN_ADDRESSES)
)


def sample(caller: ApiClient, address_list: AddressList) -> Any:
    return caller.call("POST", f"/v1/lists/{address_list.public_id}/sample")


def only_parsed(account: Account, addresses: int = MIN_ADDRESSES) -> AddressList:
    """Return a list that has one row but counts as a long one."""
    made = make_ready_list(account, b"no address\njane@localhost\n")
    AddressList.objects.filter(pk=made.pk).update(addresses=addresses)
    return made


def test_sample_has_shares_and_a_bounce_rate_only(caller: ApiClient, account: Account) -> None:
    made = make_ready_list(account, MIXED)
    preview = f"/v1/lists/{made.public_id}/preview"
    assert caller.get(preview).json()["bounce_rate"] is None
    response = sample(caller, made)
    shown = response.json()
    assert (response.status_code, shown["size"]) == (200, 200)
    assert list(shown["shares"]) == ["deliverable", "risky", "undeliverable", "unknown"]
    everything = {"share": 1.0, "low": 0.9812, "high": 1.0}
    assert shown["shares"]["undeliverable"] == shown["bounce_rate"] == everything
    assert shown["shares"]["risky"] == {"share": 0.0, "low": 0.0, "high": 0.0188}
    assert "@" not in response.content.decode()
    assert caller.get(preview).json()["bounce_rate"] == everything


def test_list_has_one_sample_that_is_free_and_unlogged(caller: ApiClient, account: Account) -> None:
    made = only_parsed(account)
    balance = Wallet.objects.get(account=account).balance
    first = sample(caller, made)
    assert first.status_code == 200
    assert sample(caller, made).json() == first.json()
    assert ListSample.objects.count() == 1
    assert Wallet.objects.get(account=account).balance == balance
    assert not UseHour.objects.exists()
    assert not LogEntry.objects.exclude(verdict="").exists()
    assert AddressList.objects.get(pk=made.pk).checked == 0


def test_short_list_has_no_sample(caller: ApiClient, account: Account) -> None:
    response = sample(caller, only_parsed(account, addresses=MIN_ADDRESSES - 1))
    assert (response.status_code, error_code(response)) == (409, "invalid_state")
    assert "2,000" in response.json()["error"]["message"]


def test_account_can_take_five_samples_in_a_day(caller: ApiClient, account: Account) -> None:
    lists = [only_parsed(account) for _ in range(6)]
    assert [sample(caller, one).status_code for one in lists] == [200] * 5 + [429]
    refused = sample(caller, lists[5])
    assert error_code(refused) == "rate_limit_exceeded"
    details = refused.json()["error"]["details"]
    assert (details["limit"], details["window"]) == (5, 86_400)
    assert 86_000 < details["retry_after"] <= 86_400
    assert refused.headers["Retry-After"] == str(details["retry_after"])
    # A sample that was taken is still shown.
    assert sample(caller, lists[0]).status_code == 200


def test_deleting_a_list_does_not_allow_another_sample(caller: ApiClient, account: Account) -> None:
    for _ in range(5):
        made = only_parsed(account)
        assert sample(caller, made).status_code == 200
        assert caller.call("DELETE", f"/v1/lists/{made.public_id}").status_code == 200
    assert error_code(sample(caller, only_parsed(account))) == "rate_limit_exceeded"


def test_samples_of_the_day_before_do_not_count(caller: ApiClient, account: Account) -> None:
    for _ in range(5):
        assert sample(caller, only_parsed(account)).status_code == 200
    AddressList.objects.filter(sample__isnull=False).delete()
    ListSample.objects.update(at=timezone.now() - timedelta(hours=25))
    assert sample(caller, only_parsed(account)).status_code == 200
    # Those of deleted lists are deleted once they no longer count.
    assert ListSample.objects.count() == 1


def test_sample_that_is_being_taken_is_not_taken_twice(caller: ApiClient, account: Account) -> None:
    made = only_parsed(account)
    running = ListSample.objects.create(account=account, list=made)
    response = sample(caller, made)
    assert (response.status_code, error_code(response)) == (409, "invalid_state")
    ListSample.objects.filter(pk=running.pk).update(at=timezone.now() - timedelta(minutes=3))
    assert sample(caller, made).json()["size"] == 1


def test_list_without_rows_has_no_sample(caller: ApiClient, account: Account) -> None:
    made = only_parsed(account)
    for state in (ListState.UPLOADING, ListState.PARSING, ListState.FAILED):
        set_state(made, state, started_at=None)
        response = sample(caller, made)
        assert (response.status_code, error_code(response)) == (409, "invalid_state")
        assert response.json()["error"]["details"] == {"state": state}
    set_state(made, ListState.EXPIRED, expires_at=timezone.now())
    assert error_code(sample(caller, made)) == "list_expired"


def test_picked_addresses_are_distinct_and_of_the_whole_list(account: Account) -> None:
    content = b"".join(b"a%d@localhost\nno address\n" % (number // 2) for number in range(3_000))
    made = make_ready_list(account, content, dedupe="off")
    picked = pick_addresses(made, 300)
    assert len(set(picked)) == len(picked) == 300
    numbers = [int(email[1:].partition("@")[0]) for email in picked]
    assert min(numbers) < 500
    assert max(numbers) > 1_000


def test_list_with_hardly_any_addresses_has_a_smaller_sample(account: Account) -> None:
    made = make_ready_list(account, b"jane@localhost\n" + b"no address\n" * 50)
    assert pick_addresses(made, 10) == ["jane@localhost"]


@pytest.mark.parametrize(
    ("count", "size", "low", "high"),
    [
        (0, 0, 0.0, 1.0),
        *((0, 200, 0.0, 0.0188), (200, 200, 0.9812, 1.0)),
        *((100, 200, 0.4314, 0.5686), (2, 10, 0.0567, 0.5098)),
    ],
)
def test_interval_is_wilsons(count: int, size: int, low: float, high: float) -> None:
    interval = wilson_interval(count, size)
    assert (interval.share, interval.low, interval.high) == (count / (size or 1), low, high)
