"""Verify webhooks, which are signed by Standard Webhooks 1.0."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from base64 import b64decode, b64encode
from collections.abc import Mapping
from contextlib import suppress
from typing import Union

from emailvalidation.types import Event

TOLERANCE = 300


class InvalidSignature(ValueError):
    """The request doesn't come from the API, was changed, or is too old: respond with 400."""


def verify(
    body: Union[bytes, str], headers: Mapping[str, str], secret: str, *, tolerance: int = TOLERANCE
) -> Event:
    """Return the event, if one of the signatures is right and the time within the tolerance.

    `secret` is the webhook's secret (`whsec_…`), or its public key (`whpk_…`), which needs the
    package cryptography. Pass the body as it arrived: parsing changes it.
    """
    raw = body.encode() if isinstance(body, str) else body
    lower = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, sent_at = lower["webhook-id"], lower["webhook-timestamp"]
        signatures = lower["webhook-signature"].split()
    except KeyError as error:
        raise InvalidSignature(f"The request has no header {error}.") from None
    # Python refuses to read numbers of thousands of digits.
    if not sent_at.isascii() or not sent_at.isdigit() or len(sent_at) > 15:
        raise InvalidSignature("webhook-timestamp isn't a number.")
    if abs(time.time() - int(sent_at)) > tolerance:
        raise InvalidSignature("The request is too old, or the clock of this machine is wrong.")
    if secret.startswith("whpk_"):
        is_right = _is_signed_by_key(f"{message_id}.{sent_at}.".encode() + raw, signatures, secret)
    else:
        expected = sign(message_id, sent_at, raw, secret)
        is_right = any(hmac.compare_digest(one.encode(), expected.encode()) for one in signatures)
    if not is_right:
        raise InvalidSignature("No signature fits this body and secret.")
    return Event.from_json(json.loads(raw))


def sign(message_id: str, timestamp: Union[int, str], body: bytes, secret: str) -> str:
    """Return the `webhook-signature` that a request with this body has."""
    key = b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + body
    return f"v1,{b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()}"


def _is_signed_by_key(signed: bytes, signatures: list[str], public_key: str) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature as WrongSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError as error:
        raise RuntimeError(
            "A public key needs the package cryptography. Install it, or use the secret."
        ) from error
    key = Ed25519PublicKey.from_public_bytes(b64decode(public_key.removeprefix("whpk_")))
    for signature in signatures:
        version, _, text = signature.partition(",")
        with suppress(WrongSignature, ValueError):
            if version == "v1a":
                key.verify(b64decode(text), signed)
                return True
    return False
