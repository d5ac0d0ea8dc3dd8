"""Signatures are verified with code that isn't ours."""

import time
from base64 import b64decode, b64encode
from datetime import timedelta

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.utils import timezone
from pytest_django import Settings
from standardwebhooks import Webhook, WebhookVerificationError

from accounts.models import WebhookEndpoint
from accounts.webhooks.keys import public_key, reencrypt_keys, retire_keys, set_new_keys, sign
from runtime.encryption import decrypt, encrypt, is_encrypted

pytestmark = pytest.mark.anywhere

BODY = '{"type":"webhook.test","data":{"name":"Zoë"}}'


def verify_v1(secret: str, header: str, timestamp: int) -> None:
    headers = {
        "webhook-id": "evt_1",
        "webhook-timestamp": str(timestamp),
        "webhook-signature": header,
    }
    assert Webhook(secret).verify(BODY, headers)["type"] == "webhook.test"


def verify_v1a(key: str, header: str, timestamp: int) -> None:
    public = Ed25519PublicKey.from_public_bytes(b64decode(key.removeprefix("whpk_")))
    signed = f"evt_1.{timestamp}.{BODY}".encode()
    for signature in header.split():
        version, _, value = signature.partition(",")
        try:
            if version == "v1a":
                public.verify(b64decode(value), signed)
                return
        except InvalidSignature:
            continue
    raise InvalidSignature


def test_vectors_of_the_specifications_are_reproduced(endpoint: WebhookEndpoint) -> None:
    """The first is of Standard Webhooks' own libraries, the second of RFC 8032, 7.1."""
    private = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    endpoint.secret = encrypt("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    endpoint.private_key = encrypt("whsk_" + b64encode(private).decode())
    header = sign(
        endpoint,
        message_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp=1614265330,
        body=b'{"test": 2432232314}',
    )
    assert header.split()[0] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    public = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    assert public_key(endpoint) == "whpk_" + b64encode(public).decode()


def test_old_keys_sign_until_their_end(endpoint: WebhookEndpoint) -> None:
    old = decrypt(endpoint.secret), public_key(endpoint)
    retire_keys(endpoint, timezone.now() + timedelta(hours=1))
    set_new_keys(endpoint)
    new = decrypt(endpoint.secret), public_key(endpoint)
    now = int(time.time())
    header = sign(endpoint, message_id="evt_1", timestamp=now, body=BODY.encode())
    for secret, key in (old, new):
        verify_v1(secret, header, now)
        verify_v1a(key, header, now)
    endpoint.old_until = timezone.now()
    header = sign(endpoint, message_id="evt_1", timestamp=now, body=BODY.encode())
    assert [part.partition(",")[0] for part in header.split()] == ["v1", "v1a"]
    verify_v1(new[0], header, now)
    with pytest.raises(InvalidSignature):
        verify_v1a(new[1], header, now + 1)
    with pytest.raises(WebhookVerificationError):
        verify_v1(old[0], header, now)
    endpoint.save()
    reencrypt_keys()
    stored = WebhookEndpoint.objects.get()
    assert (stored.old_secret, stored.old_private_key, stored.old_until) == ("", "", None)


def test_keys_are_stored_encrypted_and_follow_a_new_secret_key(
    endpoint: WebhookEndpoint, settings: Settings
) -> None:
    secret, key = decrypt(endpoint.secret), public_key(endpoint)
    retire_keys(endpoint, timezone.now() + timedelta(days=1))
    endpoint.save()
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-secret-key-that-replaces-the-first-one"
    reencrypt_keys()
    settings.SECRET_KEY_FALLBACKS = []
    endpoint.refresh_from_db()
    fields = [endpoint.secret, endpoint.private_key, endpoint.old_secret, endpoint.old_private_key]
    assert all(map(is_encrypted, fields))
    assert (decrypt(endpoint.secret), public_key(endpoint)) == (secret, key)


def test_endpoint_whose_keys_are_lost_keeps_them(
    endpoint: WebhookEndpoint, settings: Settings
) -> None:
    settings.SECRET_KEY = "another-secret-key-without-the-first-one"
    reencrypt_keys()
    stored = WebhookEndpoint.objects.get()
    assert (stored.secret, stored.private_key) == (endpoint.secret, endpoint.private_key)
