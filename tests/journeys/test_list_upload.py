"""Uploading a list: parts, progress, interruptions, cancellation, refusals, and the sample."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.journeys.findings import assert_no_findings
from tests.journeys.lists import run_lists
from tests.journeys.newcomers import Newcomer, Newcomers
from tests.journeys.windows import Windows
from tests.servers.product import Product

PAGE = "/lists/create/"
# Two parts, and less than the 10 MB of the Free plan.
ROWS = 9_000
SECOND_PART = re.compile(r"/parts/2/$")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lists") / "customers.csv"
    rows = (f"customer{number}@reserved.test,{'x' * 1_000}\n" for number in range(ROWS))
    path.write_text("email,note\n" + "".join(rows))
    return path


@pytest.fixture
def page(windows: Windows, newcomer: Newcomer) -> Page:
    page = windows.open(newcomer)
    page.goto(PAGE)
    return page


@pytest.fixture(scope="module")
def window(shared_windows: Windows, newcomers: Newcomers) -> Page:
    return shared_windows.open(newcomers.take())


@pytest.fixture
def form(window: Page) -> Page:
    """A form that sends nothing in these tests, so they share its window and customer."""
    window.goto(PAGE)
    return window


def sent_parts(page: Page) -> list[str]:
    """Return a list to which the numbers of the parts are added that the page sends."""
    numbers: list[str] = []

    def record(request: Request) -> None:
        if found := re.search(r"/parts/(\d+)/$", request.url):
            numbers.append(found[1])

    page.on("request", record)
    return numbers


def upload(page: Page, file: Path) -> None:
    page.get_by_label("Choose a file").set_input_files(file)


def lose(route: Route) -> None:
    route.abort("connectionreset")


def forget_failed_requests(windows: Windows, error: str = "net::ERR_") -> None:
    """The browser logs requests that the test aborted, or that the server refused."""
    errors = windows.take_console_errors()
    assert errors
    assert all(error in line for line in errors)


@pytest.mark.main_path
def test_file_over_8_mb_is_uploaded_in_parts(page: Page, site: Product, large: Path) -> None:
    parts = sent_parts(page)
    upload(page, large)
    expect(page.get_by_role("heading", name="customers.csv")).to_be_visible()
    assert parts == ["1", "2"]
    run_lists(site)
    expect(page.get_by_text("The list costs up to 9,000")).to_be_visible()


def test_upload_shows_its_progress(page: Page, large: Path) -> None:
    page.route(SECOND_PART, lambda _: None)
    upload(page, large)
    bar = page.get_by_role("progressbar", name="Uploaded")
    expect(bar).to_have_js_property("value", 90)
    expect(page.get_by_text("8.0 MB of 8.8 MB, 90%")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="75% uploaded")).to_be_attached()
    expect(page.get_by_role("button", name="Upload list")).to_be_hidden()
    assert_no_findings(page)


def test_part_is_sent_again_after_the_connection_was_lost(
    windows: Windows, page: Page, large: Path
) -> None:
    parts = sent_parts(page)
    page.route(SECOND_PART, lose, times=1)
    upload(page, large)
    expect(page.get_by_role("heading", name="customers.csv")).to_be_visible()
    assert parts == ["1", "2", "2"]
    forget_failed_requests(windows)


def test_upload_continues_after_a_long_interruption(
    windows: Windows, page: Page, large: Path
) -> None:
    page.clock.install()
    page.route(SECOND_PART, lose)
    upload(page, large)
    retrying = page.locator(".lists-upload-amount").get_by_text("Trying again…")
    expect(retrying).to_be_visible()
    alert = page.get_by_role("alert").filter(has_text="Uploaded parts are stored for a day")
    while not alert.is_visible():
        page.clock.run_for(1_000)
    assert_no_findings(page)
    parts = sent_parts(page)
    page.unroute(SECOND_PART)
    page.get_by_role("button", name="Continue upload").click()
    expect(page.get_by_role("heading", name="customers.csv")).to_be_visible()
    assert parts == ["2"]
    forget_failed_requests(windows)


def test_same_file_continues_after_a_reload(
    windows: Windows, page: Page, site: Product, large: Path
) -> None:
    page.on("dialog", lambda dialog: dialog.accept())
    page.route(SECOND_PART, lose)
    upload(page, large)
    expect(page.get_by_text("Trying again…").first).to_be_visible()
    page.unroute(SECOND_PART)
    page.goto(PAGE)
    parts = sent_parts(page)
    page.route(SECOND_PART, lambda _: None)
    upload(page, large)
    expect(page.get_by_text("Part of this file was already uploaded.")).to_be_visible()
    assert_no_findings(page)
    page.unroute(SECOND_PART)
    expect(page.get_by_role("heading", name="customers.csv")).to_be_visible()
    assert parts == ["2"]
    run_lists(site)
    expect(page.get_by_text("The list costs up to 9,000")).to_be_visible()
    forget_failed_requests(windows)


def test_canceled_upload_is_deleted_and_can_begin_again(page: Page, large: Path) -> None:
    page.route(SECOND_PART, lambda _: None)
    upload(page, large)
    expect(page.get_by_text("8.0 MB of 8.8 MB")).to_be_visible()
    with page.expect_response(re.compile("/upload/cancel/$")) as response:
        page.get_by_role("button", name="Cancel upload").click()
    assert response.value.ok
    expect(page.get_by_label("Choose a file")).to_be_focused()
    page.unroute_all()
    parts = sent_parts(page)
    upload(page, large)
    expect(page.get_by_role("heading", name="customers.csv")).to_be_visible()
    assert parts == ["1", "2"]
    page.goto("/lists/")
    expect(page.locator(".lists-table tbody tr")).to_have_count(1)


def test_upload_that_is_complete_when_it_is_canceled_opens_its_page(
    page: Page, large: Path
) -> None:
    # The server completes the upload, but the browser never gets the response.
    page.route(re.compile("/upload/finish/$"), lambda route: route.fetch())
    with page.expect_request(re.compile("/upload/finish/$")):
        upload(page, large)
    page.get_by_role("button", name="Cancel upload").click()
    expect(page.get_by_role("heading", name="customers.csv")).to_be_visible()
    page.unroute_all()


def test_file_beyond_the_plan_is_refused_before_it_is_uploaded(form: Page, tmp_path: Path) -> None:
    large = tmp_path / "large.csv"
    large.write_bytes(b"jane@reserved.test\n" * 600_000)
    requests: list[str] = []
    form.on("request", lambda request: requests.append(request.url))
    upload(form, large)
    alert = form.get_by_role("alert").filter(has_text="The file is larger than 10 MB")
    expect(alert).to_be_visible()
    assert_no_findings(form)
    assert requests == []


def test_refusal_of_the_server_is_shown(windows: Windows, page: Page, large: Path) -> None:
    upload(page, large)
    expect(page.get_by_role("heading", name="customers.csv")).to_be_visible()
    page.goto(PAGE)
    upload(page, large)
    message = "Unfinished lists can have 10 MB in all."
    expect(page.get_by_role("alert").filter(has_text=message)).to_be_visible()
    forget_failed_requests(windows, "400 (Bad Request)")


def paste(page: Page, lines: int) -> str:
    """Paste many addresses, and return why they are refused."""
    script = """(field, lines) => {
      field.value = "jane@reserved.test\\n".repeat(lines);
      field.dispatchEvent(new Event("input"));
      return field.validationMessage;
    }"""
    message: str = page.get_by_label("Or paste addresses").evaluate(script, lines)
    return message


def test_too_many_pasted_lines_are_refused_before_they_are_sent(form: Page) -> None:
    message = "You pasted 10,001 lines. Paste up to 10,000, or upload a file."
    assert paste(form, 10_001) == message
    assert paste(form, 10_000) == ""


def drop(page: Page, *names: str) -> None:
    """Drop files on the heading, which isn't part of the form."""
    script = """(heading, names) => {
      const dataTransfer = new DataTransfer();
      for (const name of names) {
        dataTransfer.items.add(new File(["jane@reserved.test"], name));
      }
      const options = { bubbles: true, cancelable: true, dataTransfer };
      heading.dispatchEvent(new DragEvent("dragover", options));
      heading.dispatchEvent(new DragEvent("drop", options));
    }"""
    page.get_by_role("heading", name="New list").evaluate(script, [*names])


def test_file_is_uploaded_when_it_is_dropped_anywhere_on_the_page(page: Page) -> None:
    drop(page, "dropped.csv")
    expect(page.get_by_role("heading", name="dropped.csv")).to_be_visible()


def test_several_files_are_not_dropped_together(form: Page) -> None:
    drop(form, "one.csv", "two.csv")
    expect(form.get_by_role("alert").filter(has_text="Drop one file at a time.")).to_be_visible()


def test_file_does_not_replace_pasted_text(form: Page) -> None:
    form.get_by_label("Or paste addresses").fill("jane@reserved.test")
    drop(form, "dropped.csv")
    alert = form.get_by_role("alert").filter(has_text="You also pasted addresses.")
    expect(alert).to_be_visible()
