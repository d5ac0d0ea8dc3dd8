"""Settings → Webhooks: a test event, a failure, and a replay, with a receiver on loopback."""

import base64
import hmac
import re

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.newcomers import Newcomer
from tests.journeys.webhooks import create_webhook, send_test_event, webhook_process
from tests.journeys.windows import Windows
from tests.servers.product import Product
from tests.servers.receiver import Received, receiver, respond


def assert_signed(request: Received, secret: str) -> None:
    headers = {name.lower(): value for name, value in request.headers.items()}
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + request.body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signature = base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
    assert f"v1,{signature}" in headers["webhook-signature"].split()


@pytest.mark.main_path
def test_test_event_is_delivered_and_replayed_after_a_failure(
    windows: Windows, site: Product, newcomer: Newcomer
) -> None:
    page = windows.open(newcomer, permissions=["clipboard-read", "clipboard-write"])
    page.goto("/validation/")
    page.get_by_role("link", name="Webhooks").first.click()
    expect(page.get_by_text("No webhooks yet.")).to_be_visible()
    with receiver(respond(500, b"database is locked")) as server:
        with webhook_process(site):
            secret = create_webhook(page, server.url)
            page.get_by_role("button", name="Copy").first.click()
            expect(page.get_by_role("button", name="Copied", exact=True)).to_be_visible()
            assert page.evaluate("navigator.clipboard.readText()") == secret
            page.reload()
            expect(page.get_by_role("heading", name=server.url)).to_be_visible()
            assert secret not in page.content()
            send_test_event(page)
            expect(page.get_by_text("database is locked").first).to_be_visible()
            expect(page.get_by_text("Retrying")).to_be_visible()
        server.behavior = respond(200, b"thank you")
        page.get_by_role("button", name="Send now").click()
        expect(page.get_by_text("Waiting for the next attempt.")).to_be_visible()
        with webhook_process(site):
            # The page shows the new attempt without a reload.
            expect(page.get_by_text("thank you")).to_be_visible()
            assert_received_again(page, server.requests, secret)
            page.get_by_role("button", name="Replay").click()
            expect(page.get_by_text("thank you")).to_have_count(2)
    page.get_by_role("button", name="Back to the webhook").click()
    expect(page.get_by_role("row", name=re.compile("webhook.test Delivered 200"))).to_be_visible()


def assert_received_again(page: Page, received: list[Received], secret: str) -> None:
    """Check that all attempts had the event's id and a signature, and what the page shows."""
    headers = page.locator("#headers").inner_text()
    # Other events may have been sent, too.
    requests = [request for request in received if f"webhook-id: {request.id}\n" in headers]
    assert len(requests) > 1
    for request in requests:
        assert_signed(request, secret)
    last = {name.lower(): value for name, value in requests[-1].headers.items()}
    assert f"webhook-signature: {last['webhook-signature']}" in headers
    page.get_by_text("Send it yourself with curl").click()
    assert requests[-1].body.decode() in page.locator("#curl").inner_text()
