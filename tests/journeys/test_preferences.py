"""What a user chooses under Settings → Profile → Preferences."""

from playwright.sync_api import Page, expect

from tests.journeys.newcomers import Newcomer
from tests.journeys.windows import Windows

COLORS = """() => {
  const light = (color) => color.match(/\\d+/g).slice(0, 3).every((part) => part > 127);
  const [page, control] = [document.documentElement, document.querySelector("select")];
  return [getComputedStyle(page).colorScheme,
    ...[page, control].map((element) => light(getComputedStyle(element).backgroundColor))];
}"""


def test_chosen_theme_wins_over_the_system(windows: Windows, newcomer: Newcomer) -> None:
    page = windows.open(newcomer, color_scheme="dark")
    page.goto("/accounts/profile/")
    assert page.evaluate(COLORS)[1:] == [False, False]
    save(page, "Theme", "Light")
    assert page.evaluate(COLORS) == ["light", True, True]
    page.emulate_media(color_scheme="light")
    save(page, "Theme", "Dark")
    assert page.evaluate(COLORS) == ["dark", False, False]


def save(page: Page, label: str, choice: str) -> None:
    page.get_by_label(label).select_option(choice)
    page.get_by_role("button", name="Save preferences").click()
    expect(page.get_by_text("Your preferences were saved.")).to_be_visible()
    page.wait_for_load_state()
