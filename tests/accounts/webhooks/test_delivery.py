"""What the outcome of an attempt changes. Attempts themselves: test_sending.py."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.models import Account, AuditEntry, Delivery, DeliveryAttempt, Event, WebhookEndpoint
from accounts.models.webhooks import DeliveryState
from accounts.roles import Role
from accounts.webhooks.delivery import DELAYS, store_outcome
from runtime.mail.outbox import Mail
from tests.accounts.webhooks.deliveries import insert_delivery
from tests.conftest import make_member


@pytest.fixture
def delivery(endpoint: WebhookEndpoint) -> Delivery:
    return insert_delivery(endpoint)


def make_attempt(delivery: Delivery, status: int | None, error: str) -> DeliveryAttempt:
    """Return an attempt that isn't stored yet, as `send` does."""
    values = {"at": timezone.now(), "duration_ms": 0, "signature": "v1,"}
    return DeliveryAttempt(delivery=delivery, status=status, error=error, **values)


def store(delivery: Delivery, status: int | None = 500, **fields: str) -> None:
    """Store an outcome as the process with the endpoint's lease does."""
    is_success = status is not None and status // 100 == 2
    attempt = make_attempt(delivery, status, "" if is_success else "status")
    for name, value in fields.items():
        setattr(attempt, name, value)
    failing = WebhookEndpoint.objects.filter(pk=delivery.endpoint_id).exclude(failing_since=None)
    store_outcome(attempt, was_failing=failing.exists())
    delivery.refresh_from_db()
    delivery.endpoint.refresh_from_db()


def assert_waits(delivery: Delivery, delay: timedelta, since: datetime) -> None:
    """Check that the next attempt is after the delay, which varies, since the outcome's storing."""
    assert delivery.next_attempt_at is not None
    assert since + 0.9 * delay <= delivery.next_attempt_at <= timezone.now() + 1.1 * delay


def test_success_ends_the_delivery_and_the_endpoints_failures(delivery: Delivery) -> None:
    store(delivery, 503)
    assert delivery.endpoint.failures == 1
    assert delivery.endpoint.is_failing
    store(delivery, 204, response="thanks")
    assert (delivery.state, delivery.next_attempt_at, delivery.tries) == ("delivered", None, 2)
    assert (delivery.endpoint.failures, delivery.endpoint.failing_since) == (0, None)
    attempts = delivery.delivery_attempts.values_list("status", "error", "response")
    assert list(attempts) == [(503, "status", ""), (204, "", "thanks")]


def test_ten_attempts_are_spread_over_three_days(delivery: Delivery) -> None:
    total = timedelta()
    for number, delay in enumerate(DELAYS, 1):
        since = timezone.now()
        store(delivery, None, error="timeout")
        assert (delivery.tries, delivery.state) == (number, "waiting")
        assert_waits(delivery, delay, since)
        total += delay
    assert total == timedelta(hours=75, minutes=35, seconds=5)
    store(delivery)
    assert (delivery.tries, delivery.state, delivery.next_attempt_at) == (10, "failed", None)
    assert delivery.endpoint.is_enabled


def test_delays_vary(endpoint: WebhookEndpoint) -> None:
    deliveries = [insert_delivery(endpoint) for _ in range(5)]
    Delivery.objects.update(tries=8)
    for delivery in deliveries:
        store(delivery)
    # 24 hours, each 10% more or less.
    times = sorted(delivery.next_attempt_at for delivery in deliveries if delivery.next_attempt_at)
    assert times[-1] - times[0] > timedelta(minutes=1)


@pytest.mark.anywhere
@pytest.mark.parametrize(
    ("status", "retry_after", "seconds"),
    [
        *((429, "120", 120), (502, " 7200 ", 7200), (503, "in two hours", 7200)),
        (504, "999999999999999999999", 24 * 3600),
        (503, "Fri, 31 Dec 2999 23:59:59 GMT", 24 * 3600),
        (503, "Fri, 31 Dec 1999 23:59:59 GMT", 5),
        (503, "Fri, 31 Dec 9999 23:59:59 -2359", 24 * 3600),
        (503, "Fri, 31 Dec 99999999999999999999 23:59:59 GMT", 5),
        *((503, text, 5) for text in ("0", "-60", "soon", "\u0661\u0662\u0660")),
        (503, "Thu, 99 Foo 2027 99:99:99 GMT", 5),
        *((500, "120", 5), (404, "120", 5)),
    ],
)
def test_retry_after_is_obeyed(
    delivery: Delivery, status: int, retry_after: str, seconds: int
) -> None:
    since = timezone.now()
    if retry_after == "in two hours":
        retry_after = format_datetime(datetime.now(UTC) + timedelta(hours=2), usegmt=True)
    store(delivery, status, retry_after=retry_after)
    assert_waits(delivery, timedelta(seconds=seconds), since)


def test_retry_after_delays_all_earlier_attempts_of_the_endpoint(delivery: Delivery) -> None:
    other, soon, later = (insert_delivery(delivery.endpoint) for _ in range(3))
    for each, delay in ((soon, timedelta(minutes=5)), (later, timedelta(days=2))):
        each.next_attempt_at = timezone.now() + delay
        each.save()
    since = timezone.now()
    store(delivery, 429, retry_after="3600")
    hour, days = timedelta(hours=1), timedelta(days=2)
    for each, delay in ((other, hour), (soon, hour), (later, days)):
        each.refresh_from_db()
        assert_waits(each, delay, since)
    assert other.tries == 0


def test_gone_disables_the_endpoint(delivery: Delivery, account: Account) -> None:
    developer = make_member(account, Role.DEVELOPER)
    for role in (Role.ADMIN, Role.BILLING, Role.VIEWER):
        make_member(account, role)
    other, done = insert_delivery(delivery.endpoint), insert_delivery(delivery.endpoint)
    store(done, 200)
    store(delivery, 410)
    endpoint = WebhookEndpoint.objects.get()
    assert (endpoint.is_enabled, endpoint.disabled_reason) == (False, "gone")
    for each, state in ((delivery, "failed"), (other, "failed"), (done, "delivered")):
        each.refresh_from_db()
        assert (each.state, each.next_attempt_at) == (state, None)
    entry = AuditEntry.objects.get(action="webhook.disabled")
    assert (entry.actor_name, entry.target) == ("system", str(endpoint))
    assert set(Mail.objects.values_list("to", flat=True)) == {"owner@shop.example", developer.email}
    assert "410 Gone" in Mail.objects.earliest("pk").text


def test_endpoint_is_disabled_after_five_days_of_ten_failures(endpoint: WebhookEndpoint) -> None:
    for days, failures, is_enabled in ((6, 8, True), (4, 9, True), (5, 9, False)):
        since = timezone.now() - timedelta(days=days)
        WebhookEndpoint.objects.update(failing_since=since, failures=failures)
        delivery, other = insert_delivery(endpoint), insert_delivery(endpoint)
        store(delivery)
        assert delivery.endpoint.is_enabled is is_enabled
        other.refresh_from_db()
        assert (delivery.state == other.state == DeliveryState.FAILED) is not is_enabled
    assert delivery.endpoint.disabled_reason == "failing"
    assert Mail.objects.count() == 1


def test_attempt_that_ends_after_its_endpoint_was_disabled_is_recorded(delivery: Delivery) -> None:
    other = insert_delivery(delivery.endpoint)
    store(delivery, 410)
    store(other, 503, retry_after="60")
    assert (other.state, other.delivery_attempts.count()) == ("failed", 1)
    assert AuditEntry.objects.filter(action="webhook.disabled").count() == 1
    store(other, 200)
    assert other.state == "delivered"


def test_attempt_stored_again_after_a_rollback_takes_another_id(delivery: Delivery) -> None:
    attempt = make_attempt(delivery, 500, "status")
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        store_outcome(attempt, was_failing=False)
        raise ZeroDivisionError
    other = make_attempt(delivery, 503, "status")
    other.pk = attempt.pk
    other.save(force_insert=True)
    store_outcome(attempt, was_failing=False)
    statuses = delivery.delivery_attempts.values_list("status", flat=True)
    assert set(statuses) == {500, 503}


@pytest.mark.parametrize("status", [200, 500])
def test_attempt_whose_delivery_was_deleted_is_dropped(delivery: Delivery, status: int) -> None:
    attempt = make_attempt(delivery, status, "" if status == 200 else "status")
    Event.objects.all().delete()
    store_outcome(attempt, was_failing=False)
    WebhookEndpoint.objects.all().delete()
    store_outcome(attempt, was_failing=True)
    assert not DeliveryAttempt.objects.exists()
