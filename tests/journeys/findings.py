"""What is wrong with the page a window shows: nothing, or a list that says where and what."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.journeys.windows import HEIGHT, NARROW, WIDE

# All that can differ between the themes.
COLOURS = ["color-contrast", "link-in-text-block"]
AXE = Axe()
# For a page that holds the half megabyte of axe already.
AXE_AGAIN = Axe("typeof axe")


def assert_no_findings(page: Page, widths: tuple[int, ...] = (WIDE, NARROW)) -> None:
    """In each width, and in both themes, whose colours are the same in every width. One load serves
    all: nothing but styles knows of them."""
    found = _outline(page)
    for width in widths:
        found += sideways(page, width)
        found += [f"{width}: {line}" for line in _axe(page)]
    page.emulate_media(color_scheme="dark")
    found += [f"dark: {line}" for line in _axe(page, runOnly=COLOURS)]
    page.emulate_media(color_scheme="light")
    assert not found, "\n".join([page.url, *found])


def assert_skip_link_first(page: Page) -> None:
    """The first Tab reaches the link that skips the navigation."""
    page.keyboard.press("Tab")
    reached: str = page.evaluate("document.activeElement.outerHTML")
    page.evaluate("document.activeElement.blur()")
    assert 'class="skip"' in reached, f"{page.url}: the first Tab reaches {reached[:100]}"


def sideways(page: Page, width: int) -> list[str]:
    """Whether one has to scroll sideways to read."""
    page.set_viewport_size({"width": width, "height": HEIGHT})
    there: int = page.evaluate("document.documentElement.clientWidth")
    needed: int = page.evaluate("document.documentElement.scrollWidth")
    return [f"{there} wide, but needs {needed}"] if needed > there else []


def _outline(page: Page) -> list[str]:
    found = []
    if (headings := page.locator("h1").count()) != 1:
        found.append(f"{headings} first headings")
    if not page.title().partition("·")[0].strip():
        found.append("no title")
    # A label leads to the first of them alone, and axe lets it pass.
    ids: list[str] = page.eval_on_selector_all("[id]", "all => all.map(one => one.id)")
    found += [f"the id {name} is not alone" for name in set(ids) if ids.count(name) > 1]
    return found


def _axe(page: Page, **options: Any) -> list[str]:
    axe = AXE_AGAIN if page.evaluate("'axe' in window") else AXE
    results = axe.run(page, options={"resultTypes": ["violations"], **options})
    violations: list[dict[str, Any]] = results.response["violations"]
    return [
        f"{violation['id']}: {node['html'][:120]} ({node['failureSummary']})"
        for violation in violations
        for node in violation["nodes"]
    ]
