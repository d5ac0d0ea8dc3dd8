"""Browser windows that collect console errors."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, ViewportSize, expect

from tests.journeys.newcomers import Newcomer

WIDE = 1280
NARROW = 390
HEIGHT = 800
# For what only has to come: a page, or a control. A busy machine may take its time.
WAIT_MILLISECONDS = 60_000

# For each file of a page: finds tests that act before a page's scripts have run.
LATENCY_MILLISECONDS = int(os.environ.get("JOURNEY_LATENCY", "0"))

expect.set_options(timeout=WAIT_MILLISECONDS)


class Windows:
    def __init__(self, browser: Browser, url: str) -> None:
        self.browser = browser
        self.url = url
        self.console_errors: list[str] = []
        self._contexts: list[BrowserContext] = []

    def open(
        self, customer: Newcomer | None = None, *, url: str = "", width: int = WIDE, **options: Any
    ) -> Page:
        """Open a window with its own cookies, in which `customer` is signed in."""
        viewport: ViewportSize = {"width": width, "height": HEIGHT}
        context = self.browser.new_context(
            base_url=url or self.url, viewport=viewport, reduced_motion="reduce", **options
        )
        for name, value in customer.cookies.items() if customer else ():
            context.add_cookies([{"name": name, "value": value, "url": url or self.url}])
        context.set_default_timeout(WAIT_MILLISECONDS)
        context.on("console", self._record_error)
        context.on("weberror", lambda error: self.console_errors.append(str(error.error)))
        self._contexts.append(context)
        page = context.new_page()
        if LATENCY_MILLISECONDS:
            slow_down(page, LATENCY_MILLISECONDS)
        return page

    def take_console_errors(self) -> list[str]:
        """Return the errors since the last call."""
        errors, self.console_errors = self.console_errors, []
        return errors

    def close(self) -> None:
        for context in self._contexts:
            context.close()

    def _record_error(self, message: ConsoleMessage) -> None:
        if message.type != "error" or _is_error_page(message):
            return
        self.console_errors.append(f"{message.location['url']}: {message.text}")


def slow_down(page: Page, milliseconds: int) -> None:
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.send("Network.setCacheDisabled", {"cacheDisabled": True})
    conditions = {"offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
    network.send("Network.emulateNetworkConditions", {"latency": milliseconds, **conditions})


def widen(page: Page) -> Page:
    """Give a page that tests share the width with which windows open, whatever a test left."""
    page.set_viewport_size({"width": WIDE, "height": HEIGHT})
    return page


@contextmanager
def open_windows(browser: Browser, url: str) -> Iterator[Windows]:
    """Yield windows, close them at the end, and check that there were no console errors."""
    windows = Windows(browser, url)
    try:
        yield windows
    finally:
        windows.close()
    assert not windows.console_errors


def _is_error_page(message: ConsoleMessage) -> bool:
    """Return whether the page itself failed to load, because it responds 403 or 404 on purpose."""
    is_load_error = message.text.startswith("Failed to load resource")
    return (
        is_load_error and message.page is not None and message.location["url"] == message.page.url
    )
