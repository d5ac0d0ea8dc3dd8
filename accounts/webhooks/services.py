"""Create, change and test webhooks, and replay deliveries, each with its audit entry."""

from datetime import UTC, datetime, timedelta
from typing import TypedDict, Unpack

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts.audit import Actor
from accounts.events import record_event
from accounts.events.declared import WEBHOOK_TEST
from accounts.models import (
    Account,
    AuditEntry,
    Delivery,
    DeliveryAttempt,
    DisabledReason,
    Event,
    WebhookEndpoint,
)
from accounts.webhooks import keys
from accounts.webhooks.targets import RefusedTarget, TargetUnknown, TargetUnresolved, resolve
from runtime.http.refusals import Refused

MAX_WEBHOOKS = 10
# Of an account. A URL can lead to a server of others, which these requests must not flood.
MAX_TESTS, MAX_REPLAYS, LIMIT_WINDOW = 10, 60, timedelta(minutes=1)
# Of a delivery with its replays. Responses list them all.
MAX_ATTEMPTS = 50
# How long the keys from before a rotation can stay valid.
GRACE_PERIODS = (timedelta(0), timedelta(hours=1), timedelta(hours=24), timedelta(days=7))


class WebhookChangeRefused(Refused):
    """Raised if a webhook or a delivery can't be changed."""


class TooManyWebhooks(WebhookChangeRefused):
    def __init__(self) -> None:
        super().__init__(
            f"An account can have at most {MAX_WEBHOOKS} webhooks. Delete one that you no longer "
            "use."
        )


class UrlRefused(WebhookChangeRefused):
    """The message is the end of a sentence that starts with the field's name."""


class EndpointIsDisabled(WebhookChangeRefused):
    def __init__(self) -> None:
        super().__init__("This webhook is disabled. Enable it first.")


class HasTooManyAttempts(WebhookChangeRefused):
    def __init__(self) -> None:
        super().__init__(f"This delivery had {MAX_ATTEMPTS} attempts, the maximum.")


class LimitReached(WebhookChangeRefused):
    def __init__(self, what: str, limit: int, ends: datetime) -> None:
        self.what, self.limit, self.ends = f"{what} {limit} times per minute", limit, ends
        super().__init__(f"You can {self.what}. Try again in a minute.")


class AccountIsClosed(WebhookChangeRefused):
    def __init__(self) -> None:
        super().__init__("This account is closed. Reopen it to change its webhooks.")


class FormAlreadyUsed(Exception):
    """Raised if the form has created an endpoint, whose secret can't be shown again."""

    def __init__(self, endpoint: WebhookEndpoint) -> None:
        super().__init__(f"{endpoint} has already been created.")
        self.endpoint = endpoint


class EndpointChanges(TypedDict, total=False):
    url: str
    types: list[str] | None
    description: str
    is_enabled: bool


def create_endpoint(
    *,
    account: Account,
    url: str,
    types: list[str] | None,
    description: str = "",
    actor: Actor,
    form_token: str | None = None,
) -> tuple[WebhookEndpoint, str]:
    """Return the endpoint and its secret, which is never shown again."""
    _refuse_target(url)
    with transaction.atomic():
        if not Account.objects.lock_if_open(account):
            raise AccountIsClosed
        if used := account.webhooks.filter(form_token=form_token).first() if form_token else None:
            raise FormAlreadyUsed(used)
        if account.webhooks.count() >= MAX_WEBHOOKS:
            raise TooManyWebhooks
        endpoint = WebhookEndpoint(
            account=account,
            url=url,
            types=types,
            description=description,
            created_by=actor.user,
            form_token=form_token,
        )
        secret = keys.set_new_keys(endpoint)
        endpoint.save()
        actor.record("webhook.created", str(endpoint))
    return endpoint, secret


def change_endpoint(
    *, endpoint: WebhookEndpoint, actor: Actor, **changes: Unpack[EndpointChanges]
) -> WebhookEndpoint:
    if "url" in changes:
        _refuse_target(changes["url"])
    with transaction.atomic():
        endpoint = _lock(endpoint)
        before = str(endpoint)
        is_enabled = changes.pop("is_enabled", endpoint.is_enabled)
        changed = [name for name, value in changes.items() if getattr(endpoint, name) != value]
        for name in changed:
            setattr(endpoint, name, changes[name])  # type: ignore[literal-required]
        endpoint.save(update_fields=changed)
        if changed:
            after = f" → {endpoint}" if str(endpoint) != before else ""
            actor.record("webhook.changed", f"{before}{after}: {', '.join(changed)}")
        if is_enabled and not endpoint.is_enabled:
            endpoint.enable()
            actor.record("webhook.enabled", str(endpoint))
        elif not is_enabled and endpoint.is_enabled:
            endpoint.disable(DisabledReason.MANUAL)
            actor.record("webhook.disabled", str(endpoint))
    return endpoint


@transaction.atomic
def rotate_endpoint(*, endpoint: WebhookEndpoint, keep_old_for: timedelta, actor: Actor) -> str:
    """Replace both keys, and return the new secret."""
    locked = _lock(endpoint)
    keys.retire_keys(locked, timezone.now() + keep_old_for if keep_old_for else None)
    secret = keys.set_new_keys(locked)
    locked.save(
        update_fields=["secret", "private_key", "old_secret", "old_private_key", "old_until"]
    )
    endpoint.refresh_from_db()
    actor.record("webhook.rotated", str(endpoint))
    return secret


@transaction.atomic
def delete_endpoint(*, endpoint: WebhookEndpoint, actor: Actor) -> None:
    locked = _lock(endpoint)
    actor.record("webhook.deleted", str(locked))
    locked.deliveries.lock()
    locked.delete()


@transaction.atomic
def send_test(*, endpoint: WebhookEndpoint, actor: Actor) -> Event:
    _lock(endpoint, must_be_enabled=True)
    _check_limit(endpoint, "webhook.tested", "send a test event", MAX_TESTS)
    data = {"webhook": endpoint.public_id}
    event = record_event(endpoint.account, WEBHOOK_TEST, data, endpoint=endpoint)
    if event is None:
        raise AccountIsClosed
    actor.record("webhook.tested", str(endpoint))
    return event


@transaction.atomic
def replay_delivery(*, delivery: Delivery, actor: Actor) -> None:
    _lock(delivery.endpoint, must_be_enabled=True)
    _check_limit(delivery.endpoint, "webhook.replayed", "replay deliveries", MAX_REPLAYS)
    if delivery.delivery_attempts.count() >= MAX_ATTEMPTS:
        raise HasTooManyAttempts
    Delivery.objects.filter(pk=delivery.pk).replay()
    actor.record("webhook.replayed", f"{delivery.endpoint}: {delivery.event.public_id}")


@transaction.atomic
def replay_failed(*, endpoint: WebhookEndpoint, since: datetime, actor: Actor) -> int:
    """Return how many deliveries were replayed."""
    _lock(endpoint, must_be_enabled=True)
    _check_limit(endpoint, "webhook.replayed", "replay deliveries", MAX_REPLAYS)
    attempts = DeliveryAttempt.objects.filter(delivery=OuterRef("pk")).order_by()
    failed = endpoint.deliveries.failed().filter(event__created_at__gte=since)
    replayed = failed.exclude(Exists(attempts[MAX_ATTEMPTS - 1 :])).replay()
    if replayed:
        start = f"{since.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        actor.record("webhook.replayed", f"{endpoint}: {replayed} failed since {start}")
    return replayed


def _check_limit(endpoint: WebhookEndpoint, action: str, what: str, limit: int) -> None:
    """Each action has an audit entry. Calls for several endpoints may exceed the limit a little."""
    now = timezone.now()
    entries = AuditEntry.objects.filter(
        account=endpoint.account_id, action=action, at__range=(now - LIMIT_WINDOW, now)
    )
    times = list(entries.order_by("-at").values_list("at", flat=True)[:limit])
    if len(times) == limit:
        raise LimitReached(what, limit, times[-1] + LIMIT_WINDOW)


def _refuse_target(url: str) -> None:
    """Call this outside a transaction: it waits for the DNS."""
    try:
        resolve(url)
    except RefusedTarget as error:
        raise UrlRefused(str(error)) from None
    except TargetUnknown:
        raise UrlRefused("must name a host with an address: the DNS has none for it") from None
    except TargetUnresolved:
        # Each attempt resolves it again.
        return


def _lock(endpoint: WebhookEndpoint, *, must_be_enabled: bool = False) -> WebhookEndpoint:
    """Endpoints are locked before their deliveries."""
    locked = WebhookEndpoint.objects.select_for_update(no_key=True).get(pk=endpoint.pk)
    if must_be_enabled and not locked.is_enabled:
        raise EndpointIsDisabled
    return locked
