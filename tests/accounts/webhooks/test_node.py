"""Signatures are verified by the specification's npm package and by Node's crypto."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Delivery, Event, WebhookEndpoint
from accounts.webhooks.keys import generate_keys, public_key, retire_keys, store_keys
from accounts.webhooks.sending import send
from runtime.encryption import decrypt
from tests.accounts.webhooks.node_packages import SOURCE, install_packages
from tests.servers.receiver import receiver

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(not (shutil.which("node") and shutil.which("npm")), reason="needs Node.js"),
]


@pytest.fixture(scope="module")
def program() -> Path:
    return Path(shutil.copy(SOURCE / "verify.js", install_packages()))


def is_verified(program: Path, document: Mapping[str, object]) -> bool:
    ended = subprocess.run(
        ["node", str(program)],
        input=json.dumps(document).encode(),
        check=False,
        capture_output=True,
    )
    return ended.returncode == 0


def test_received_request_is_verified_with_old_and_new_keys(
    program: Path, settings: Settings
) -> None:
    settings.WEBHOOK_ALLOW_PRIVATE = True
    endpoint = WebhookEndpoint()
    store_keys(endpoint, generate_keys())
    keys = [(decrypt(endpoint.secret), public_key(endpoint))]
    retire_keys(endpoint, timezone.now() + timedelta(hours=1))
    store_keys(endpoint, generate_keys())
    keys.append((decrypt(endpoint.secret), public_key(endpoint)))
    body = '{"type":"webhook.test","data":{"name":"Zoë"}}'
    with receiver() as shop:
        endpoint.url = shop.url
        assert send(Delivery(endpoint=endpoint, event=Event(public_id="evt_1", body=body))).status
    (request,) = shop.requests
    received: dict[str, object] = {"headers": request.headers, "body": request.body.decode()}
    for secret, key in keys:
        document = {**received, "secret": secret, "publicKey": key}
        assert is_verified(program, document)
        assert not is_verified(program, {**document, "body": body.replace("test", "best")})
    strange = generate_keys()
    assert not is_verified(program, {**document, "secret": strange.secret})
    store_keys(endpoint, strange)
    assert not is_verified(program, {**document, "publicKey": public_key(endpoint)})
