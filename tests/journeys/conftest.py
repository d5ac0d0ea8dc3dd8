"""One product and one browser for all journeys, which see everything from outside.

The fixtures live as long as this package's tests run, and no longer: while Playwright's event loop
turns in the main thread, Django refuses the database to the tests of the other folders.
"""

import os
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.journeys.newcomers import Newcomer, Newcomers, newcomers_of
from tests.journeys.windows import Windows, open_windows
from tests.servers.product import Product, product

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]
MISSING = "The browser journeys need Chromium, and there is no `chromium` on the PATH."


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, None, None]:
    """Marked before `-m` chooses; last, after the order was shuffled."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.journey)
    yield
    items.sort(key=lambda item: here in item.path.parents)


@pytest.fixture(scope="package")
def chromium() -> str:
    program = shutil.which("chromium")
    if program:
        return program
    if os.environ.get("JOURNEYS") == "required":
        pytest.fail(MISSING)
    pytest.skip(MISSING)


@pytest.fixture(scope="package")
def site(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with product(tmp_path_factory.mktemp("product")) as running:
        yield running


@pytest.fixture(scope="package")
def newcomers(site: Product) -> Iterator[Newcomers]:
    with newcomers_of(site) as newcomers:
        yield newcomers


@pytest.fixture(scope="package")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def windows(browser: Browser, site: Product) -> Iterator[Windows]:
    with open_windows(browser, site.url) as windows:
        yield windows


@pytest.fixture(scope="module")
def lasting_windows(browser: Browser, site: Product) -> Iterator[Windows]:
    """For what takes long to set up and many tests only look at."""
    with open_windows(browser, site.url) as windows:
        yield windows


@pytest.fixture
def newcomer(newcomers: Newcomers) -> Newcomer:
    """Somebody who has just signed up, for this test alone."""
    return newcomers.take()


@pytest.fixture
def page(windows: Windows) -> Page:
    return windows.open()
