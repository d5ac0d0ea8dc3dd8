"""Steps with webhooks, which the product of the journeys leaves to the tests to send."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page

from tests.journeys.sign_in import wait_for_heading
from tests.servers.product import ROOT, Product


@contextmanager
def webhook_process(site: Product) -> Iterator[None]:
    command = [sys.executable, "manage.py", "run_webhooks"]
    with site.log.open("ab") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, env=site.process_environment, stdout=log, stderr=log
        )
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def create_webhook(page: Page, url: str) -> str:
    """Create an endpoint; end on the page that shows its secret once, and return it."""
    page.goto("/accounts/webhooks/create/")
    page.get_by_label("URL").fill(url)
    page.get_by_role("button", name="Create webhook").click()
    wait_for_heading(page, "Your signing secret")
    return page.locator("#secret").inner_text()


def send_test_event(page: Page) -> None:
    """Send it from the endpoint's page; end on the page of its delivery."""
    page.get_by_role("button", name="Send test event").click()
    wait_for_heading(page, "webhook.test")
