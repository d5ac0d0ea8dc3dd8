"""Accessibility and layout findings on the page that a window shows."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from tests.journeys.windows import HEIGHT, NARROW, WIDE

# The axe rules whose results can differ between the light and the dark theme.
COLOR_RULES = ["color-contrast", "link-in-text-block"]
# In pixels, for a finger.
MIN_TARGET_HEIGHT = 32
TARGETS = "a[href], button, summary, select, textarea, input, [role=tab]"
# Of a checkbox and a radio button, the label counts, and of a row that is a link, its ::after,
# which covers the row. Bars of a chart are as high as their number.
SMALL_TARGETS = """(elements, minimum) => elements
  .filter((element) => element.checkVisibility({visibilityProperty: true}))
  .filter((element) => !element.closest(".skip-link, svg"))
  .map((element) => /^(checkbox|radio)$/.test(element.type) ? element.labels[0] : element)
  .filter((element) => minimum > Math.ceil(Math.max(element.getBoundingClientRect().height,
    parseFloat(getComputedStyle(element, "::after").height) || 0)))
  .map((element) => `too small for a finger: ${element.outerHTML.slice(0, 150)}`)"""
# Resolves after the observer has got the shifts since the page was parsed. Before, a slow browser
# paints a long page piece by piece, and each piece can move the one before.
LAYOUT_SHIFT = """new Promise((resolve) => {
  const parsed = performance.getEntriesByType("navigation")[0].domInteractive;
  let sum = 0;
  const add = (list) => list.getEntries()
    .filter((entry) => entry.startTime > parsed)
    .forEach((entry) => { sum += entry.value; });
  new PerformanceObserver(add).observe({type: "layout-shift", buffered: true});
  setTimeout(() => resolve(sum), 50);
})"""
# Resolves after two frames, so that everything known by now is painted.
PAINT = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
# Returns one line per violation: all results of axe are a hundred times as long.
RUN_AXE = """options => axe.run(options).then(results => results.violations.flatMap(
  ({id, nodes}) => nodes.map(({html, failureSummary}) =>
    `${id}: ${html.slice(0, 120)} (${failureSummary})`)))"""


def assert_no_findings(page: Page, widths: tuple[int, ...] = (WIDE, NARROW)) -> None:
    """Check the page in each width and in both themes.

    The page isn't reloaded, because only CSS depends on width and theme. Colors don't depend on the
    width, so the dark theme is checked once.
    """
    # A click doesn't wait for the next page's styles.
    page.wait_for_load_state()
    findings = _check_structure(page)
    for width in widths:
        findings += find_horizontal_scrolling(page, width)
        if width == NARROW and "/admin/" not in page.url:
            findings += find_small_targets(page)
        findings += [f"{width}: {line}" for line in _run_axe(page)]
    page.emulate_media(color_scheme="dark")
    findings += [f"dark: {line}" for line in _run_axe(page, runOnly=COLOR_RULES)]
    page.emulate_media(color_scheme="light")
    assert not findings, "\n".join([page.url, *findings])


def assert_skip_link_first(page: Page) -> None:
    """Check that the first Tab reaches the link that skips the navigation."""
    page.keyboard.press("Tab")
    reached: str = page.evaluate("document.activeElement.outerHTML")
    page.evaluate("document.activeElement.blur()")
    assert 'class="skip-link"' in reached, f"{page.url}: the first Tab reaches {reached[:100]}"


def find_layout_shift(page: Page) -> float:
    """Return how much of the page has moved since it was parsed, without any input.

    Less than a thousandth isn't seen: a busy browser sometimes moves a line by a few pixels.
    """
    return round(float(page.evaluate(LAYOUT_SHIFT)), 3)


def find_horizontal_scrolling(page: Page, width: int) -> list[str]:
    """Return a finding if the page needs horizontal scrolling."""
    page.set_viewport_size({"width": width, "height": HEIGHT})
    available: int = page.evaluate("document.documentElement.clientWidth")
    needed: int = page.evaluate("document.documentElement.scrollWidth")
    return [f"{available} wide, but needs {needed}"] if needed > available else []


def find_small_targets(page: Page) -> list[str]:
    """Return a finding for each link, button, and field that is too low for a phone."""
    small: list[str] = page.eval_on_selector_all(TARGETS, SMALL_TARGETS, MIN_TARGET_HEIGHT)
    return small


def _check_structure(page: Page) -> list[str]:
    findings = []
    if (headings := page.locator("h1").count()) != 1:
        findings.append(f"{headings} h1 headings")
    if not page.title().partition("·")[0].strip():
        findings.append("no title")
    # axe doesn't report duplicate ids, but a label only works for the first of them.
    script = "elements => elements.map(element => element.id)"
    ids: list[str] = page.eval_on_selector_all("[id]", script)
    findings += [f"duplicate id {name}" for name in set(ids) if ids.count(name) > 1]
    return findings


def _run_axe(page: Page, **options: Any) -> list[str]:
    # Half a megabyte, which stays until the next page.
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    lines: list[str] = page.evaluate(RUN_AXE, {"resultTypes": ["violations"], **options})
    return lines
