"""How much an account may upload."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Account
from accounts.services import open_account
from apikeys.actor import Actor
from apikeys.errors import ApiError
from credits.models import Pack, Plan
from credits.plans.list_limits import ListLimits, list_limits
from lists.lifecycle import Start, choose_column, start_list
from lists.models import AddressList, ListUpload
from lists.models.states import ListState
from lists.uploads.parsing import parse_list
from lists.uploads.services import create_list
from tests.conftest import make_user
from tests.credits.customers import pay, place_order
from tests.lists.uploads import parse, upload, upload_and_parse

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def set_limits(addresses: int, size: int = 10 << 20) -> None:
    Plan.objects.update(list_addresses=addresses, list_bytes=size)


def emails(count: int, domain: str = "shop.com") -> str:
    return "".join(f"user{number}@{domain}\n" for number in range(count))


def test_plans_and_packs_have_the_limits_of_the_price_list() -> None:
    expected = [
        (10_000, 10 << 20),
        (100_000, 100 << 20),
        (1_000_000, 1 << 30),
        (10_000_000, 1 << 30),
    ]
    for model in (Plan, Pack):
        found = model.objects.values_list("list_addresses", "list_bytes")
        assert list(found) == expected


def test_highest_of_the_plan_and_the_paid_packs_counts(account: Account) -> None:
    assert list_limits(account) == ListLimits(10_000, 10 << 20)
    order = place_order(account, Pack.objects.get(credits=10_000))
    assert list_limits(account) == ListLimits(10_000, 10 << 20)
    pay(order)
    assert list_limits(account) == ListLimits(100_000, 100 << 20)
    Pack.objects.update(list_addresses=7, list_bytes=7)
    assert list_limits(account) == ListLimits(10_000, 10 << 20)


def test_list_with_three_times_as_many_rows_as_addresses_allowed_fails(account: Account) -> None:
    set_limits(500)
    assert upload_and_parse(account, "no address\n" * 1_500).state == ListState.READY
    failed = upload_and_parse(account, "no address\n" * 1_501)
    assert (failed.state, failed.error_code) == (ListState.FAILED, "list_too_large")
    assert failed.error_message == (
        "The list has more than 1,500 rows, 3 times your limit of addresses per list. Split the"
        " list, or upgrade your plan."
    )


def test_fourth_change_of_the_column_in_an_hour_is_429(account: Account) -> None:
    address_list = upload_and_parse(account, "a@shop.example,b@shop.example,c\n")
    for column in (1, 0, 1):
        choose_column(address_list=address_list, column=column, actor=None)
        parse()
    with pytest.raises(ApiError) as refused:
        choose_column(address_list=address_list, column=0, actor=None)
    assert (refused.value.code, refused.value.status) == ("rate_limit_exceeded", 429)
    assert 1 <= int(refused.value.headers["Retry-After"]) <= 3_600
    # The list itself can still be started.
    assert (
        start_list(address_list=address_list, start=Start(), actor=None).state == ListState.QUEUED
    )


def test_account_has_one_list_parsed_at_a_time(account: Account) -> None:
    """Its further files don't take the threads that parse the lists of others."""
    for _ in range(2):
        upload(account, "a@shop.example\n")
    other = open_account(user=make_user("other@shop.example"), name="Other")
    theirs = upload(other, "b@shop.example\n")
    first, second = AddressList.objects.claim(), AddressList.objects.claim()
    assert first is not None
    assert second == theirs
    assert AddressList.objects.claim() is None
    parse_list(first)
    assert AddressList.objects.claim() is not None


def test_list_with_too_many_addresses_fails_and_names_limit_and_count(account: Account) -> None:
    set_limits(1500)
    parsed = upload_and_parse(account, emails(3000))
    assert (parsed.state, parsed.error_code) == (ListState.FAILED, "list_too_large")
    assert "3,000 rows with more than 1,500 different addresses" in parsed.error_message
    assert not parsed.chunks.exists() and not parsed.parts.exists()
    assert upload_and_parse(account, emails(1500) * 2).state == ListState.READY


def test_three_times_the_addresses_of_a_list_may_be_uploaded_in_a_day(account: Account) -> None:
    set_limits(10)
    for number in range(3):
        parsed = upload_and_parse(account, emails(10, f"shop{number}.com"))
        assert parsed.state == ListState.READY
    oldest = ListUpload.objects.order_by("pk").first()
    assert oldest is not None
    ListUpload.objects.filter(pk=oldest.pk).update(at=timezone.now() - timedelta(hours=20))
    with pytest.raises(ApiError) as refused:
        create_list(actor=Actor(account))
    assert refused.value.code == "rate_limit_exceeded"
    assert 14_300 < int(refused.value.headers["Retry-After"]) <= 14_400
    assert "30 addresses in 24 hours" in refused.value.message
    ends = timezone.now() + timedelta(hours=4)
    assert refused.value.message.endswith(f" UTC on {ends:%B} {ends.day}.")


def test_uploads_at_the_same_time_cannot_exceed_the_addresses_of_a_day(account: Account) -> None:
    set_limits(10)
    for number in range(4):
        upload(account, emails(10, f"shop{number}.com"))
    states = [parse().state for _ in range(4)]
    assert states == [ListState.READY] * 3 + [ListState.FAILED]
    failed = AddressList.objects.get(state=ListState.FAILED)
    assert failed.error_code == "rate_limit_exceeded"
    ends = timezone.now() + timedelta(hours=24)
    assert failed.error_message.startswith(
        "You can upload up to 30 addresses in 24 hours. Try again at "
    )
    assert failed.error_message.endswith(f" UTC on {ends:%B} {ends.day}.")


def test_parsing_a_list_again_counts_once(account: Account) -> None:
    set_limits(10)
    parsed = upload_and_parse(account, emails(10))
    assert parsed.change_state(ListState.PARSING)
    assert parse().state == ListState.READY
    assert ListUpload.objects.get().addresses == 10
