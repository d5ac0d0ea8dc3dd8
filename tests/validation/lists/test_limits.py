"""How much an account may upload."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Account, User
from apikeys.actor import Actor
from apikeys.errors import ApiError
from credits.models import Order, Pack, Plan
from credits.plans.list_limits import ListLimits, list_limits
from tests.validation.lists.uploads import parse, upload, upload_and_parse
from validation.lists.services import (
    create_list,
    delete_list,
    store_part,
)
from validation.lists.transitions import change_state
from validation.lists.uploads import limits
from validation.models import AddressList, ListUpload
from validation.models.list_states import State

pytestmark = pytest.mark.django_db


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


def test_highest_of_the_plan_and_the_paid_packs_counts(account: Account, owner: User) -> None:
    assert list_limits(account) == ListLimits(10_000, 10 << 20)
    order = place_pack(account, owner)
    assert list_limits(account) == ListLimits(10_000, 10 << 20)
    Order.objects.filter(pk=order.pk).update(state="paid", paid_at=timezone.now())
    assert list_limits(account) == ListLimits(100_000, 100 << 20)
    Pack.objects.update(list_addresses=7, list_bytes=7)
    assert list_limits(account) == ListLimits(10_000, 10 << 20)


def place_pack(account: Account, owner: User) -> Order:
    return Order.objects.create(
        account=account,
        kind="pack",
        method="invoice",
        pack=Pack.objects.get(credits=10_000),
        description="Pack",
        credits=10_000,
        net_cents=1,
        tax_cents=0,
        tax_rate=0,
        currency="USD",
        buyer_name="The Shop",
        seller_name="S",
        seller_address="S",
        seller_tax_id="S",
        placed_by=owner.email,
        due_on=timezone.now().date(),
    )


def test_list_with_too_many_addresses_fails_and_names_limit_and_count(account: Account) -> None:
    set_limits(1500)
    parsed = upload_and_parse(account, emails(3000))
    assert (parsed.state, parsed.error_code) == (State.FAILED, "list_too_large")
    assert "3,000 rows with more than 1,500 different addresses" in parsed.error_message
    assert not parsed.chunks.exists() and not parsed.parts.exists()


def test_duplicates_do_not_count(account: Account) -> None:
    set_limits(1500)
    assert upload_and_parse(account, emails(1500) * 2).state == State.READY


def test_bytes_of_all_unfinished_lists_count(account: Account) -> None:
    set_limits(10_000, 100)
    first = create_list(actor=Actor(account))
    second = create_list(actor=Actor(account))
    store_part(address_list=first, number=1, content=b"x" * 60)
    with pytest.raises(ApiError) as refused:
        store_part(address_list=second, number=1, content=b"x" * 41)
    assert refused.value.code == "list_too_large"
    assert refused.value.details == {"limit": 100, "used": 60}
    store_part(address_list=second, number=1, content=b"x" * 40)
    assert AddressList.objects.get(pk=second.pk).bytes == 40


def test_twenty_unfinished_lists_are_the_most(account: Account) -> None:
    for _ in range(limits.MAX_UNFINISHED):
        newest = create_list(actor=Actor(account))
    with pytest.raises(ApiError) as refused:
        create_list(actor=Actor(account))
    assert (refused.value.code, refused.value.status) == ("too_many_lists", 409)
    delete_list(address_list=newest, actor=Actor(account))
    create_list(actor=Actor(account))


def test_three_times_the_bytes_of_a_list_may_be_uploaded_in_a_day(account: Account) -> None:
    set_limits(10_000, 100)
    for _ in range(3):
        uploaded = create_list(actor=Actor(account))
        store_part(address_list=uploaded, number=1, content=b"x" * 100)
        # Deleting lists does not reset the limit.
        delete_list(address_list=uploaded, actor=Actor(account))
    another = create_list(actor=Actor(account))
    with pytest.raises(ApiError) as refused:
        store_part(address_list=another, number=1, content=b"x")
    assert (refused.value.code, refused.value.status) == ("rate_limit_exceeded", 429)
    assert 86_000 < int(refused.value.headers["Retry-After"]) <= 86_400
    assert refused.value.details["limit"] == 300
    ListUpload.objects.update(at=timezone.now() - timedelta(hours=24))
    store_part(address_list=another, number=1, content=b"x")


def test_three_times_the_addresses_of_a_list_may_be_uploaded_in_a_day(account: Account) -> None:
    set_limits(10)
    for number in range(3):
        parsed = upload_and_parse(account, emails(10, f"shop{number}.com"))
        assert parsed.state == State.READY
    oldest = ListUpload.objects.order_by("pk").first()
    assert oldest is not None
    ListUpload.objects.filter(pk=oldest.pk).update(at=timezone.now() - timedelta(hours=20))
    with pytest.raises(ApiError) as refused:
        create_list(actor=Actor(account))
    assert refused.value.code == "rate_limit_exceeded"
    assert 14_300 < int(refused.value.headers["Retry-After"]) <= 14_400
    assert "30 addresses in 24 hours" in refused.value.message


def test_uploads_at_the_same_time_cannot_exceed_the_addresses_of_a_day(account: Account) -> None:
    set_limits(10)
    for number in range(4):
        upload(account, emails(10, f"shop{number}.com"))
    states = [parse().state for _ in range(4)]
    assert states == [State.READY] * 3 + [State.FAILED]
    failed = AddressList.objects.get(state=State.FAILED)
    assert failed.error_code == "rate_limit_exceeded"
    assert "30 addresses in 24 hours" in failed.error_message


def test_parsing_a_list_again_counts_once(account: Account) -> None:
    set_limits(10)
    parsed = upload_and_parse(account, emails(10))
    assert change_state(parsed, State.PARSING)
    assert parse().state == State.READY
    assert ListUpload.objects.get().addresses == 10
