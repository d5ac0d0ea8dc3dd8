"""Browser windows that note what the browser's console complains of."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, ViewportSize

from tests.journeys.newcomers import Newcomer

WIDE = 1280
NARROW = 390
HEIGHT = 800
WAIT_MILLISECONDS = 10_000


class Windows:
    def __init__(self, browser: Browser, url: str) -> None:
        self.browser = browser
        self.url = url
        self.complaints: list[str] = []
        self._contexts: list[BrowserContext] = []

    def open(
        self, who: Newcomer | None = None, *, url: str = "", width: int = WIDE, **options: Any
    ) -> Page:
        """A new window of somebody else: it shares no cookies with the others."""
        viewport: ViewportSize = {"width": width, "height": HEIGHT}
        context = self.browser.new_context(
            base_url=url or self.url, viewport=viewport, reduced_motion="reduce", **options
        )
        for name, value in who.cookies.items() if who else ():
            context.add_cookies([{"name": name, "value": value, "url": url or self.url}])
        context.set_default_timeout(WAIT_MILLISECONDS)
        context.on("console", self._note)
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        self._contexts.append(context)
        return context.new_page()

    def take_complaints(self) -> list[str]:
        """What was complained of since the last time."""
        taken, self.complaints = self.complaints, []
        return taken

    def close(self) -> None:
        for context in self._contexts:
            context.close()

    def _note(self, message: ConsoleMessage) -> None:
        if message.type != "error" or _is_the_page_itself(message):
            return
        self.complaints.append(f"{message.location['url']}: {message.text}")


@contextmanager
def open_windows(browser: Browser, url: str) -> Iterator[Windows]:
    """Closed at the end, when none may have complained."""
    windows = Windows(browser, url)
    try:
        yield windows
    finally:
        windows.close()
    assert not windows.complaints


def _is_the_page_itself(message: ConsoleMessage) -> bool:
    """A page may answer 403 or 404 and mean it; what it loads may not."""
    refused = message.text.startswith("Failed to load resource")
    return refused and message.page is not None and message.location["url"] == message.page.url
