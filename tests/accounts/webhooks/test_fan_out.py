"""Events get their numbers and deliveries after their commit, whatever happens concurrently."""

from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import Account, Delivery, Event, WebhookEndpoint
from accounts.services import open_account
from accounts.webhooks import fan_out
from accounts.webhooks.fan_out import number_events
from tests.accounts.webhooks.factory import COMPLETED, record
from tests.conftest import make_user
from tests.support.fresh_database import run_concurrently


def make_endpoint(account: Account, **fields: Any) -> WebhookEndpoint:
    return WebhookEndpoint.objects.create(account=account, url="https://shop.example/", **fields)


def deliveries() -> list[tuple[int, int, str]]:
    rows = Delivery.objects.order_by("pk").values_list("event_id", "endpoint_id", "state")
    return list(rows)


@pytest.mark.anywhere
@pytest.mark.django_db
class TestFanOut:
    def test_each_endpoint_gets_the_events_that_it_wants(self, account: Account) -> None:
        stranger = Account.objects.create(name="Elsewhere")
        make_endpoint(stranger, types=["list.completed"])
        all_types = make_endpoint(account)
        chosen = make_endpoint(account, types=["list.completed", "key.created"])
        disabled = make_endpoint(account, disabled_at=timezone.now(), disabled_reason="manual")
        Event.objects.all().delete()
        ready, completed = record(account), record(account, COMPLETED)
        only_one, elsewhere = record(account, endpoint=chosen), record(stranger)
        assert number_events() == 4
        assert deliveries() == [
            (ready.pk, all_types.pk, "waiting"),
            (ready.pk, disabled.pk, "failed"),
            (completed.pk, all_types.pk, "waiting"),
            (completed.pk, chosen.pk, "waiting"),
            (completed.pk, disabled.pk, "failed"),
            (only_one.pk, chosen.pk, "waiting"),
        ]
        assert list(Event.objects.numbered()) == [elsewhere, only_one, completed, ready]

    def test_events_of_closed_accounts_are_dropped_and_leave_no_gap(self, account: Account) -> None:
        closed = Account.objects.create(name="Closed")
        make_endpoint(closed)
        Event.objects.all().delete()
        events = [record(account), record(closed), record(account)]
        Account.objects.filter(pk=closed.pk).update(closed_at=timezone.now())
        assert number_events() == 3
        assert list(Event.objects.order_by("number").values_list("pk", "number")) == [
            (events[0].pk, 1),
            (events[2].pk, 2),
        ]
        assert not Delivery.objects.exists()

    def test_batches_continue_the_numbers(
        self, account: Account, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(fan_out, "BATCH_SIZE", 2)
        Event.objects.all().delete()
        made = [record(account).pk for _ in range(5)]
        assert [number_events() for _ in range(4)] == [2, 2, 1, 0]
        numbers = Event.objects.order_by("pk").values_list("pk", "number")
        assert list(numbers) == list(zip(made, range(1, 6), strict=True))

    def test_a_call_without_new_events_is_one_query(
        self, account: Account, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        record(account)
        number_events()
        with django_assert_num_queries(1) as queries:
            assert number_events() == 0
        assert queries.captured_queries[0]["sql"].startswith("SELECT 1")


@pytest.fixture
def shop(fresh_database: None) -> Account:
    return open_account(user=make_user("owner@shop.example"), name="The Shop")


def test_concurrent_callers_number_each_event_once_without_gaps(
    shop: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fan_out, "BATCH_SIZE", 7)
    endpoints = [make_endpoint(shop) for _ in range(2)]
    Event.objects.all().delete()
    for _ in range(40):
        record(shop)

    def call(number: int) -> int:
        if number == 0:
            return len([record(shop) for _ in range(20)])
        handled = 0
        while n := number_events():
            handled += n
        return handled

    results = run_concurrently(4, call)
    assert all(isinstance(result, int) for result in results), results
    while number_events():
        pass
    events = list(Event.objects.order_by("number"))
    assert [event.number for event in events] == list(range(1, 61))
    pairs = sorted((event, endpoint) for event, endpoint, _ in deliveries())
    assert pairs == sorted((event.pk, one.pk) for event in events for one in endpoints)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
def test_endpoint_is_locked_until_its_new_deliveries_are_committed(shop: Account) -> None:
    make_endpoint(shop)
    record(shop)

    def lock(_: int) -> None:
        with transaction.atomic():
            WebhookEndpoint.objects.select_for_update(nowait=True).get()

    with transaction.atomic():
        number_events()
        (refused,) = run_concurrently(1, lock)
    assert isinstance(refused, OperationalError)
    assert run_concurrently(1, lock) == [None]
