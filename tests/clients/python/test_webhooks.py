"""The Python client verifies what the product signs, and nothing else."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone
from emailvalidation import webhooks
from standardwebhooks import Webhook

from accounts.models import WebhookEndpoint
from accounts.webhooks.keys import public_key, retire_keys, set_new_keys, sign
from runtime.encryption import decrypt

BODY = (
    b'{"id":"evt_1","type":"list.completed","timestamp":"2026-11-27T12:00:00.000Z",'
    b'"account_id":"acc_1","data":{"name":"Zo\xc3\xab"},"new":1}'
)
# The example of the specification Standard Webhooks 1.0.
VECTOR_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
VECTOR_BODY = b'{"test": 2432232314}'
VECTOR_SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.fixture
def endpoint() -> WebhookEndpoint:
    endpoint = WebhookEndpoint()
    set_new_keys(endpoint)
    return endpoint


def signed_headers(endpoint: WebhookEndpoint, seconds_ago: int = 0) -> dict[str, str]:
    timestamp = int(time.time()) - seconds_ago
    signature = sign(endpoint, message_id="evt_1", timestamp=timestamp, body=BODY)
    return {
        "Webhook-Id": "evt_1",
        "Webhook-Timestamp": str(timestamp),
        "Webhook-Signature": signature,
    }


def test_event_is_returned_for_the_secret_or_the_public_key(endpoint: WebhookEndpoint) -> None:
    for key in (decrypt(endpoint.secret), public_key(endpoint)):
        event = webhooks.verify(BODY, signed_headers(endpoint), key)
        assert (event.type, event.data) == ("list.completed", {"name": "Zoë"})
        assert event.raw["new"] == 1


def test_old_secret_is_accepted_while_it_still_signs(endpoint: WebhookEndpoint) -> None:
    old = decrypt(endpoint.secret)
    retire_keys(endpoint, timezone.now() + timedelta(hours=1))
    set_new_keys(endpoint)
    assert webhooks.verify(BODY, signed_headers(endpoint), old).id == "evt_1"


@pytest.mark.parametrize("seconds_ago", [301, -301])
def test_copied_requests_are_refused(endpoint: WebhookEndpoint, seconds_ago: int) -> None:
    with pytest.raises(webhooks.InvalidSignature):
        webhooks.verify(BODY, signed_headers(endpoint, seconds_ago), decrypt(endpoint.secret))


def test_changed_requests_are_refused(endpoint: WebhookEndpoint) -> None:
    headers, other = signed_headers(endpoint), WebhookEndpoint()
    set_new_keys(other)
    for key in (decrypt(endpoint.secret), public_key(endpoint)):
        attempts = [
            (BODY + b" ", headers, key),
            (BODY, {**headers, "Webhook-Id": "evt_2"}, key),
            (BODY, {**headers, "Webhook-Timestamp": "²"}, key),
            (BODY, {**headers, "Webhook-Signature": ""}, key),
            (BODY, {**headers, "Webhook-Signature": "v1,é v1a,== v2,x v1"}, key),
            (BODY, {}, key),
        ]
        for body, changed, secret in attempts:
            with pytest.raises(webhooks.InvalidSignature):
                webhooks.verify(body, changed, secret)
    for key in (decrypt(other.secret), public_key(other)):
        with pytest.raises(webhooks.InvalidSignature):
            webhooks.verify(BODY, headers, key)


def test_signature_is_that_of_the_specification_and_its_library() -> None:
    assert (
        webhooks.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, VECTOR_BODY, VECTOR_SECRET)
        == VECTOR_SIGNATURE
    )
    now = int(time.time())
    headers = {
        "webhook-id": "evt_1",
        "webhook-timestamp": str(now),
        "webhook-signature": webhooks.sign("evt_1", now, BODY, VECTOR_SECRET),
    }
    assert Webhook(VECTOR_SECRET).verify(BODY, headers)["id"] == "evt_1"
    assert webhooks.verify(BODY, headers, VECTOR_SECRET).id == "evt_1"
