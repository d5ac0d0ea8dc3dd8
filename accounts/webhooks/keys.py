"""The two signatures of Standard Webhooks 1.0: v1 is HMAC-SHA-256, v1a is Ed25519."""

import hmac
import secrets
from base64 import b64decode, b64encode
from datetime import datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.db import transaction
from django.utils import timezone

from accounts.models import WebhookEndpoint
from runtime.encryption import decrypt, encrypt, reencrypt

SECRET_PREFIX, PRIVATE_PREFIX, PUBLIC_PREFIX = "whsec_", "whsk_", "whpk_"
_ENCRYPTED_FIELDS = ("secret", "private_key", "old_secret", "old_private_key")


def set_new_keys(endpoint: WebhookEndpoint) -> str:
    """Set keys without saving the endpoint. Return the secret, which its owner sees once."""
    secret = SECRET_PREFIX + b64encode(secrets.token_bytes(32)).decode()
    private_key = b64encode(Ed25519PrivateKey.generate().private_bytes_raw()).decode()
    endpoint.secret = encrypt(secret)
    endpoint.private_key = encrypt(PRIVATE_PREFIX + private_key)
    return secret


def retire_keys(endpoint: WebhookEndpoint, old_until: datetime | None) -> None:
    """Let the current keys sign until then, besides those that replace them; None: not at all."""
    endpoint.old_until = old_until
    endpoint.old_secret = endpoint.secret if old_until else ""
    endpoint.old_private_key = endpoint.private_key if old_until else ""


def public_key(endpoint: WebhookEndpoint) -> str:
    key = _load_private_key(endpoint.private_key).public_key()
    return PUBLIC_PREFIX + b64encode(key.public_bytes_raw()).decode()


def sign(endpoint: WebhookEndpoint, *, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the webhook-signature header: both signatures, after a rotation also the old keys'."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    pairs = [(endpoint.secret, endpoint.private_key)]
    if endpoint.old_until is not None and endpoint.old_until > timezone.now():
        pairs.append((endpoint.old_secret, endpoint.old_private_key))
    signatures = []
    for secret, private_key in pairs:
        key = b64decode(decrypt(secret).removeprefix(SECRET_PREFIX))
        signatures += [
            f"v1,{b64encode(hmac.digest(key, signed, 'sha256')).decode()}",
            f"v1a,{b64encode(_load_private_key(private_key).sign(signed)).decode()}",
        ]
    return " ".join(signatures)


def _load_private_key(encrypted: str) -> Ed25519PrivateKey:
    text = decrypt(encrypted).removeprefix(PRIVATE_PREFIX)
    return Ed25519PrivateKey.from_private_bytes(b64decode(text))


def reencrypt_keys() -> None:
    """Delete expired keys, and encrypt the others under the current SECRET_KEY, daily."""
    expired = WebhookEndpoint.objects.filter(old_until__lte=timezone.now())
    expired.update(old_until=None, old_secret="", old_private_key="")
    for pk in WebhookEndpoint.objects.values_list("pk", flat=True):
        with transaction.atomic():
            endpoint = WebhookEndpoint.objects.filter(pk=pk)
            for stored in endpoint.select_for_update().values(*_ENCRYPTED_FIELDS):
                endpoint.update(**reencrypt(stored))
