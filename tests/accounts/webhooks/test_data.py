"""Events are deleted after 30 days, erased with their account, and exported."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Account, Delivery, DeliveryAttempt, Event, User, WebhookEndpoint
from accounts.retention import erase_account
from accounts.services import export_account
from accounts.webhooks import data
from accounts.webhooks.fan_out import number_events
from runtime.jobs.daily import on_every_day
from tests.accounts.webhooks.factory import record

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint(account: Account) -> WebhookEndpoint:
    Event.objects.all().delete()
    return WebhookEndpoint.objects.create(
        account=account, url="https://shop.example/", secret="encrypted", private_key="encrypted"
    )


def make_events(account: Account, count: int, days_old: int) -> list[int]:
    """Make events that were attempted once by each endpoint."""
    for _ in range(count):
        record(account)
    number_events()
    now = timezone.now()
    made = list(account.events.filter(created_at__gt=now - timedelta(minutes=5)))
    account.events.filter(pk__in=[one.pk for one in made]).update(
        created_at=now - timedelta(days=days_old, minutes=10)
    )
    DeliveryAttempt.objects.bulk_create(
        DeliveryAttempt(delivery=delivery, at=now, duration_ms=1, signature="v1,x")
        for delivery in Delivery.objects.filter(event__in=made)
    )
    return [one.pk for one in made]


def test_old_events_are_deleted_with_their_deliveries_and_attempts(
    account: Account, endpoint: WebhookEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "DELETED_AT_A_TIME", 2)
    make_events(account, 5, days_old=30)
    kept = make_events(account, 2, days_old=29)
    record(account)
    Event.objects.filter(number=None).update(created_at=timezone.now() - timedelta(days=40))
    on_every_day.load("accounts.webhooks.data.delete_old_events")()
    assert sorted(Event.objects.numbered().values_list("pk", flat=True)) == kept
    assert sorted(endpoint.deliveries.values_list("event", flat=True)) == kept
    assert DeliveryAttempt.objects.count() == 2
    # An event that was never shown isn't lost.
    assert number_events() == 1


@pytest.mark.anywhere
def test_erased_account_has_no_events_and_endpoints(
    account: Account, endpoint: WebhookEndpoint, stranger: User
) -> None:
    make_events(account, 2, days_old=1)
    other = Account.objects.get(memberships__user=stranger)
    make_events(other, 1, days_old=1)
    record(account)
    long_ago = timezone.now() - timedelta(days=1000)
    Account.objects.filter(pk=account.pk).update(closed_at=long_ago)
    erase_account(account=account)
    assert {event.account_id for event in Event.objects.all()} == {other.pk}
    assert not WebhookEndpoint.objects.exists()
    assert not Delivery.objects.exists()


@pytest.mark.anywhere
def test_export_contains_events_and_endpoints_without_secrets(
    account: Account, owner: User, endpoint: WebhookEndpoint
) -> None:
    make_events(account, 2, days_old=1)
    exported = json.loads(json.dumps(export_account(account=account, actor=owner), default=str))
    bodies = account.events.order_by("number").values_list("body", flat=True)
    assert exported["events"] == [json.loads(body) for body in bodies]
    assert [one["url"] for one in exported["webhooks"]] == ["https://shop.example/"]
    assert "encrypted" not in json.dumps(exported)
