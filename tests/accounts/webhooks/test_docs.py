"""The docs' receivers accept what we send, and nothing else."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
import requests
from django.utils import timezone
from pytest_django import Settings

from accounts.models import Delivery, Event, WebhookEndpoint
from accounts.webhooks.delivery import DELAYS
from accounts.webhooks.keys import public_key, retire_keys, set_new_keys, sign
from accounts.webhooks.sending import send
from reference.docs.examples import Snippet, load_snippets
from runtime.encryption import decrypt
from tests.accounts.webhooks.node_packages import install_packages
from tests.clients.typescript.build import build_client
from tests.journeys.docs_examples import RUNNERS
from tests.servers.product import ROOT

EVENT = "evt_7Hs2LqXbT9mWcRz4KdPv"
BODY = f'{{"id":"{EVENT}","type":"webhook.test","data":{{"name":"Zoë"}}}}'
RECEIVERS = [
    pytest.param(snippet, id=f"{name}-{snippet.language.name}")
    for name in ("webhook-client", "webhook-library", "webhook-receiver", "webhook-public-key")
    for snippet in load_snippets(name, {})
]


@contextmanager
def run(snippet: Snippet, **environment: str) -> Iterator["subprocess.Popen[str]"]:
    runner = RUNNERS[snippet.language.name]
    is_python = snippet.language.fence == "python"
    if not is_python and not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("needs Node.js")
    folders = {"typescript": build_client, "http-javascript": install_packages}
    process = subprocess.Popen(
        [*runner, snippet.code],
        cwd=ROOT if is_python else folders[snippet.language.name](),
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT / "clients" / "python" / "src"),
            "PORT": "0",
            **environment,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def attempt(endpoint: WebhookEndpoint) -> int | None:
    return send(Delivery(endpoint=endpoint, event=Event(public_id=EVENT, body=BODY))).status


def post(endpoint: WebhookEndpoint, body: str, seconds_ago: int, **changes: str) -> int:
    """Send what a process that knows the keys could send, with other headers than we do."""
    timestamp = int(time.time()) - seconds_ago
    signature = sign(endpoint, message_id=EVENT, timestamp=timestamp, body=BODY.encode())
    headers = {
        "webhook-id": EVENT,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature,
        **{f"webhook-{name}": value for name, value in changes.items()},
    }
    try:
        return requests.post(endpoint.url, body.encode(), headers=headers, timeout=60).status_code
    except requests.ConnectionError:
        # The library for Python raises for some timestamps that aren't numbers.
        return 400


@pytest.mark.proof
@pytest.mark.anywhere
@pytest.mark.parametrize("snippet", RECEIVERS)
def test_receiver_accepts_our_signatures_only(snippet: Snippet, settings: Settings) -> None:
    settings.WEBHOOK_ALLOW_PRIVATE = True
    endpoint = WebhookEndpoint()
    set_new_keys(endpoint)
    environment = {
        "WEBHOOK_SECRET": decrypt(endpoint.secret),
        "WEBHOOK_PUBLIC_KEY": public_key(endpoint),
    }
    assert snippet.output == f"Listening on port 8080\nwebhook.test {EVENT}"
    with run(snippet, **environment) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        port = re.fullmatch(r"Listening on port (\d+)\n", first)
        assert port, first
        endpoint.url = f"http://127.0.0.1:{port[1]}/"
        assert attempt(endpoint) == post(endpoint, BODY, 240) == 204
        for response in (
            post(endpoint, BODY, 360),
            post(endpoint, BODY, -360),
            post(endpoint, BODY.replace("test", "best"), 0),
            post(endpoint, BODY, 0, id="evt_00000000000000000000"),
            *(post(endpoint, BODY, 0, timestamp=text) for text in ("", "\u00b2", "now", "nan")),
            *(
                post(endpoint, BODY, 0, signature=text)
                for text in ("", "v1", "v1,", "v1a,x \u00b2")
            ),
            requests.post(endpoint.url, BODY, timeout=60).status_code,
        ):
            assert response == 400
        # During a rotation, both keys sign.
        retire_keys(endpoint, timezone.now() + timedelta(hours=1))
        set_new_keys(endpoint)
        assert attempt(endpoint) == 204
        retire_keys(endpoint, None)
        assert attempt(endpoint) == 400
        process.kill()
        assert process.stdout.read() == f"webhook.test {EVENT}\n" * 3


@pytest.mark.anywhere
def test_page_has_the_times_between_attempts() -> None:
    page = (Path(ROOT) / "templates/docs/pages/webhooks.md").read_text()
    text = re.search(r"sent again: after ([^.]*)\.", page)
    assert text
    units = {"second": 1, "minute": 60, "hour": 3600}
    found = re.findall(r"(\d+)\s(second|minute|hour)", text[1])
    assert tuple(timedelta(seconds=int(n) * units[unit]) for n, unit in found) == DELAYS
