"""Creating, changing, rotating and testing webhooks, and replaying deliveries."""

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import time_machine
from django.db import connection, transaction
from django.utils import timezone

from accounts.audit import Actor
from accounts.models import (
    Account,
    AuditEntry,
    Delivery,
    DeliveryAttempt,
    DisabledReason,
    Event,
    User,
    WebhookEndpoint,
)
from accounts.models.webhooks import DeliveryState
from accounts.services import open_account
from accounts.webhooks import services
from accounts.webhooks.data import delete_old_events
from accounts.webhooks.delivery import store_outcome
from tests.accounts.webhooks.deliveries import insert_delivery
from tests.conftest import make_user
from tests.servers.dns import FakeDns, servfail
from tests.support.fresh_database import run_concurrently

URL = "https://hooks.shop.com/a-secret-path"


@pytest.fixture
def actor(account: Account, owner: User) -> Actor:
    return Actor(account, user=owner)


def create(actor: Actor, **options: str) -> tuple[WebhookEndpoint, str]:
    chosen = {"url": URL, **options}
    return services.create_endpoint(account=actor.account, types=None, actor=actor, **chosen)


def make_delivery(endpoint: WebhookEndpoint, state: DeliveryState, hours: int = 0) -> Delivery:
    next_attempt_at = timezone.now() if state == DeliveryState.WAITING else None
    return insert_delivery(
        endpoint, days_old=hours / 24, state=state, tries=10, next_attempt_at=next_attempt_at
    )


def audited(action: str) -> list[str]:
    entries = AuditEntry.objects.filter(action=f"webhook.{action}").order_by("pk")
    return list(entries.values_list("target", flat=True))


@pytest.mark.anywhere
def test_url_that_the_dns_does_not_resolve_now_is_stored(actor: Actor, fake_dns: FakeDns) -> None:
    """Each attempt resolves it again. Refused URLs: tests/apikeys/webhooks/test_webhooks_api.py."""
    fake_dns.add_records("hooks.shop.com", A="8.8.4.4")
    for kind in ("A", "AAAA"):
        fake_dns.set_behavior("failing.shop.com", kind, servfail)
    endpoint, _ = create(actor)
    unresolved = "https://failing.shop.com/"
    changed = services.change_endpoint(endpoint=endpoint, url=unresolved, actor=actor)
    assert WebhookEndpoint.objects.get().url == changed.url == unresolved
    assert len(audited("created")) == len(audited("changed")) == 1


def test_concurrent_calls_do_not_create_an_eleventh_endpoint(fresh_database: None) -> None:
    owner = make_user("owner@shop.example")
    account = open_account(user=owner)
    actor = Actor(account, user=owner)
    for _ in range(services.MAX_WEBHOOKS - 1):
        create(actor)
    results = run_concurrently(4, lambda number: create(actor))
    assert len([one for one in results if isinstance(one, services.TooManyWebhooks)]) == 3
    assert account.webhooks.count() == len(audited("created")) == services.MAX_WEBHOOKS


@pytest.mark.anywhere
def test_changes_are_audited_once(actor: Actor) -> None:
    endpoint, _ = create(actor)
    name = str(endpoint)
    for _ in range(2):
        services.change_endpoint(
            endpoint=endpoint, types=["list.ready"], description="New", actor=actor
        )
    services.change_endpoint(endpoint=endpoint, url="https://other.shop.com/", actor=actor)
    moved = name.replace("hooks.", "other.")
    assert audited("changed") == [f"{name}: types, description", f"{name} → {moved}: url"]
    assert WebhookEndpoint.objects.get().types == ["list.ready"]


@pytest.mark.anywhere
def test_disabled_endpoint_fails_its_waiting_deliveries_and_starts_over_when_enabled(
    actor: Actor,
) -> None:
    endpoint, _ = create(actor)
    waiting, delivered = (
        make_delivery(endpoint, state) for state in (DeliveryState.WAITING, DeliveryState.DELIVERED)
    )
    for _ in range(2):
        services.change_endpoint(endpoint=endpoint, is_enabled=False, actor=actor)
    endpoint.refresh_from_db()
    assert (endpoint.state, endpoint.disabled_reason) == ("disabled", DisabledReason.MANUAL)
    assert Delivery.objects.get(pk=waiting.pk).state == DeliveryState.FAILED
    assert Delivery.objects.get(pk=delivered.pk).state == DeliveryState.DELIVERED
    WebhookEndpoint.objects.update(failures=12, failing_since=timezone.now())
    enabled = services.change_endpoint(endpoint=endpoint, is_enabled=True, actor=actor)
    assert (enabled.state, enabled.disabled_reason) == ("active", "")
    assert (enabled.failures, enabled.failing_since) == (0, None)
    assert (audited("disabled"), audited("enabled")) == ([str(endpoint)], [str(endpoint)])


def test_replay_sends_the_same_delivery_again(actor: Actor) -> None:
    endpoint, _ = create(actor)
    other, _ = create(actor)
    delivered = make_delivery(endpoint, DeliveryState.DELIVERED)
    services.replay_delivery(delivery=delivered, actor=actor)
    assert [*endpoint.deliveries.due()] == [delivered]
    assert Delivery.objects.get(pk=delivered.pk).tries == 0
    old, new = (make_delivery(endpoint, DeliveryState.FAILED, hours) for hours in (3, 1))
    theirs = make_delivery(other, DeliveryState.FAILED)
    retried, first = (make_delivery(endpoint, DeliveryState.WAITING) for _ in range(2))
    later = timezone.now() + timedelta(hours=5)
    Delivery.objects.filter(pk__in=(retried.pk, first.pk)).update(next_attempt_at=later)
    Delivery.objects.filter(pk=first.pk).update(tries=0)
    since = timezone.now() - timedelta(hours=2)
    assert services.replay_failed(endpoint=endpoint, since=since, actor=actor) == 2
    assert services.replay_failed(endpoint=endpoint, since=since, actor=actor) == 0
    assert {*Delivery.objects.due()} == {delivered, new, retried}
    assert {*Delivery.objects.failed()} == {old, theirs}
    replayed = f"{endpoint}: 2 failed since {since:%Y-%m-%d %H:%M} UTC"
    assert audited("replayed") == [f"{endpoint}: {delivered.event.public_id}", replayed]


def test_deleted_endpoint_leaves_nothing_but_the_audit_entries(actor: Actor) -> None:
    endpoint, _ = create(actor)
    services.send_test(endpoint=endpoint, actor=actor)
    delivery = make_delivery(endpoint, DeliveryState.WAITING)
    DeliveryAttempt.objects.create(delivery=delivery, at=timezone.now(), duration_ms=1)
    services.delete_endpoint(endpoint=WebhookEndpoint.objects.get(), actor=actor)
    for model in (WebhookEndpoint, Delivery, DeliveryAttempt):
        assert not model.objects.exists()
    assert not Event.objects.filter(type="webhook.test").exists()
    assert audited("deleted") == [str(endpoint)]
    for call in (
        lambda: services.change_endpoint(endpoint=endpoint, is_enabled=False, actor=actor),
        lambda: services.delete_endpoint(endpoint=endpoint, actor=actor),
        lambda: services.send_test(endpoint=endpoint, actor=actor),
    ):
        with pytest.raises(WebhookEndpoint.DoesNotExist):
            call()


@pytest.mark.anywhere
def test_closed_account_creates_and_tests_nothing(actor: Actor) -> None:
    endpoint, _ = create(actor)
    Account.objects.update(closed_at=timezone.now())
    endpoint.account.refresh_from_db()
    with pytest.raises(services.AccountIsClosed):
        create(actor)
    with pytest.raises(services.AccountIsClosed):
        services.send_test(endpoint=endpoint, actor=actor)
    assert (audited("created"), audited("tested")) == ([str(endpoint)], [])


@pytest.mark.anywhere
def test_tests_and_replays_are_limited_per_account_and_minute(actor: Actor) -> None:
    """The URL may be that of a server that isn't the customer's."""
    endpoints = [create(actor)[0] for _ in range(2)]
    delivery = make_delivery(endpoints[0], DeliveryState.DELIVERED)
    failed = make_delivery(endpoints[0], DeliveryState.FAILED)

    def replay_failed(endpoint: WebhookEndpoint) -> None:
        since = timezone.now() - timedelta(hours=1)
        services.replay_failed(endpoint=endpoint, since=since, actor=actor)

    def test(number: int) -> None:
        services.send_test(endpoint=endpoints[number % 2], actor=actor)

    def replay(number: int) -> None:
        services.replay_delivery(delivery=delivery, actor=actor)

    with time_machine.travel(timezone.now(), tick=False) as clock:
        for call, limit in ((test, services.MAX_TESTS), (replay, services.MAX_REPLAYS)):
            for number in range(limit):
                call(number)
            for number in range(2):
                with pytest.raises(services.LimitReached, match=f"{limit} times per minute"):
                    call(number)
        with pytest.raises(services.LimitReached):
            replay_failed(endpoints[0])
        assert (len(audited("tested")), len(audited("replayed"))) == (10, 60)
        clock.shift(61)
        test(0)
        replay(0)
        replay_failed(endpoints[0])
    failed.refresh_from_db()
    assert failed.state == DeliveryState.WAITING


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
@pytest.mark.parametrize("deletes_event", [False, True])
def test_outcome_that_is_being_stored_does_not_fail_a_deletion(
    fresh_database: None, deletes_event: bool
) -> None:
    owner = make_user("owner@shop.example")
    actor = Actor(open_account(user=owner), user=owner)
    endpoint, _ = create(actor)
    delivery = make_delivery(endpoint, DeliveryState.WAITING, hours=24 * 31)
    Event.objects.update(number=1)
    attempt = DeliveryAttempt(delivery=delivery, at=timezone.now(), duration_ms=0)

    def delete(number: int) -> None:
        if deletes_event:
            delete_old_events()
        else:
            services.delete_endpoint(endpoint=endpoint, actor=actor)

    with ThreadPoolExecutor(1) as thread:
        with transaction.atomic():
            store_outcome(attempt, was_failing=False)
            results = thread.submit(run_concurrently, 1, delete)
            wait_for_lock()
        assert results.result() == [None]
    assert not Delivery.objects.exists()
    assert not DeliveryAttempt.objects.exists()


def wait_for_lock() -> None:
    deadline = time.monotonic() + 60
    with connection.cursor() as cursor:
        is_waiting = False
        while not is_waiting:
            assert time.monotonic() < deadline
            # A transaction sees the statistics of its first query again.
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute(
                "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
                "AND datname = current_database()"
            )
            is_waiting = cursor.fetchone() is not None
