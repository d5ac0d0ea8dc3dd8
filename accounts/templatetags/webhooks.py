import json
import shlex

from django import template

from accounts.models import Delivery, DeliveryAttempt, DisabledReason, WebhookEndpoint
from accounts.models.webhooks import DeliveryState
from accounts.presenters.elements import Badge
from accounts.webhooks.sending import ERRORS, event_headers

register = template.Library()

_STATES = {
    DeliveryState.WAITING: Badge("Waiting"),
    DeliveryState.DELIVERED: Badge("Delivered", "deliverable", "circle-check"),
    DeliveryState.FAILED: Badge("Failed", "undeliverable", "circle-x"),
}


@register.filter
def endpoint_badge(endpoint: WebhookEndpoint) -> Badge:
    if endpoint.disabled_reason == DisabledReason.MANUAL:
        return Badge("Disabled")
    if not endpoint.is_enabled:
        return Badge("Disabled", "undeliverable", "circle-x")
    if endpoint.is_failing:
        return Badge("Failing", "risky", "triangle-alert")
    return Badge("Active", "deliverable", "circle-check")


@register.filter
def delivery_badge(delivery: Delivery) -> Badge:
    if delivery.state == DeliveryState.WAITING and delivery.tries:
        return Badge("Retrying", "risky", "rotate-ccw")
    return _STATES[DeliveryState(delivery.state)]


@register.filter
def error_text(code: str) -> str:
    return ERRORS.get(code, code)


@register.filter
def pretty_json(text: str) -> str:
    return json.dumps(json.loads(text), indent=2, ensure_ascii=False)


@register.filter
def sent_headers(attempt: DeliveryAttempt) -> str:
    headers = event_headers(attempt.delivery.event, attempt.at, attempt.signature)
    return "\n".join(f"{name}: {value}" for name, value in headers.items())


@register.filter
def curl(attempt: DeliveryAttempt) -> str:
    """Return a command that sends the same bytes, as others have another signature."""
    headers = [f"-H {shlex.quote(line)}" for line in sent_headers(attempt).splitlines()]
    url, body = attempt.delivery.endpoint.url, attempt.delivery.event.body
    lines = [f"curl {shlex.quote(url)}", *headers, f"--data-raw {shlex.quote(body)}"]
    return " \\\n  ".join(lines)
