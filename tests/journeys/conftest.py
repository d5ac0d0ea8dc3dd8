"""One product and one browser for all journeys, which use the product only from outside.

The fixtures have package scope. They must end with the journeys: while Playwright's event loop runs
in the main thread, Django refuses database access to tests in other folders.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.journeys.newcomers import Newcomer, Newcomers, open_newcomers
from tests.journeys.populated_account import PopulatedAccount, open_populated_account
from tests.journeys.windows import Windows, open_windows
from tests.servers.product import Product, product

ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--no-first-run"),
    # Fewer processes for each window, which saves a sixth of the CPU time.
    "--in-process-gpu",
    "--renderer-process-limit=1",
]
# The shell is Chromium without its window, and takes a third of the CPU time.
PROGRAMS = ("chromium-headless-shell", "chromium")
MISSING = f"The browser journeys need one of {PROGRAMS} on the PATH."


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark journeys, before `-m` selects.

    All are proofs except the main path of each kind of user, because they take as long as most
    other tests together.
    """
    here = Path(__file__).parent
    for item in items:
        if item.path.parent == here:
            item.add_marker(pytest.mark.journey)
            if not item.get_closest_marker("main_path"):
                item.add_marker(pytest.mark.proof)
            # The setup of the first one prepares and starts a product. Its own mark goes first.
            item.add_marker(pytest.mark.timeout(300))


def find_chromium() -> str | None:
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@pytest.fixture(scope="package")
def chromium() -> str:
    if program := find_chromium():
        return program
    if os.environ.get("JOURNEYS") == "required":
        pytest.fail(MISSING)
    pytest.skip(MISSING)


@pytest.fixture(scope="package")
def site(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    folder = tmp_path_factory.mktemp("product")
    with product(folder, WEB_WORKERS="1", WEBHOOK_ALLOW_PRIVATE="on") as running:
        yield running


@pytest.fixture(scope="package")
def newcomers(site: Product) -> Iterator[Newcomers]:
    with open_newcomers(site) as newcomers:
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
def shared_windows(browser: Browser, site: Product) -> Iterator[Windows]:
    """Windows that all tests of a module share, for pages that are slow to set up."""
    with open_windows(browser, site.url) as windows:
        yield windows


@pytest.fixture(scope="module")
def member(shared_windows: Windows, newcomers: Newcomers) -> Page:
    """A window of one new customer for all tests of a module."""
    return shared_windows.open(newcomers.take())


@pytest.fixture(scope="package")
def populated(browser: Browser, site: Product, newcomers: Newcomers) -> Iterator[PopulatedAccount]:
    """An account with content, for tests that only look at its pages."""
    with open_windows(browser, site.url) as windows:
        yield open_populated_account(windows, site, newcomers.take())


@pytest.fixture
def newcomer(newcomers: Newcomers) -> Newcomer:
    """A customer who has just signed up, for one test."""
    return newcomers.take()


@pytest.fixture
def page(windows: Windows) -> Page:
    return windows.open()
