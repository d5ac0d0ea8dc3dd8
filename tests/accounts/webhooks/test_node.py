"""Signatures are verified by the specification's npm package and by Node's crypto."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Delivery, Event, WebhookEndpoint
from accounts.webhooks.keys import generate_keys, public_key, retire_keys, store_keys
from accounts.webhooks.sending import send
from runtime.encryption import decrypt
from tests.servers.product import ROOT
from tests.servers.receiver import receiver

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(not (shutil.which("node") and shutil.which("npm")), reason="needs Node.js"),
]

SOURCE = Path(__file__).with_name("node")


@pytest.fixture(scope="module")
def program() -> Path:
    """The program with its packages, which stay installed until the lock file changes."""
    lock = (SOURCE / "package-lock.json").read_bytes()
    folder = ROOT / ".pytest_cache" / "node" / sha256(lock).hexdigest()[:16]
    if not (folder / "node_modules").exists():
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(SOURCE / name, folder)
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return Path(shutil.copy(SOURCE / "verify.js", folder))


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
    received = {"headers": request.headers, "body": request.body.decode()}
    for secret, key in keys:
        document = {**received, "secret": secret, "publicKey": key}
        assert is_verified(program, document)
        assert not is_verified(program, {**document, "body": body.replace("test", "best")})
    strange = generate_keys()
    assert not is_verified(program, {**document, "secret": strange.secret})
    store_keys(endpoint, strange)
    assert not is_verified(program, {**document, "publicKey": public_key(endpoint)})
