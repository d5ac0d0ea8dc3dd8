"""Draw the landing page's pictures from the real pages: `make pictures`."""

import base64
import random
import tempfile
from pathlib import Path

from emailvalidation import Client
from playwright.sync_api import Page, ViewportSize, sync_playwright

from tests.journeys.conftest import ARGUMENTS, find_chromium
from tests.servers.keys import make_account
from tests.servers.product import ROOT, Product, product

PICTURES = ROOT / "static" / "images"
OWNER = "jane@harborline.example"
# Shares of a list that has aged for a year.
WORDS = {
    "deliverable": 83,
    "disposable": 3,
    "role_account": 4,
    "possible_typo": 2,
    "mailbox_not_found": 5,
    "domain_not_found": 2,
    "unknown": 1,
}
SIZE = ViewportSize(width=1240, height=760)
# Without the navigation. A first visit may load 120 KB.
CLIP = {"x": 232, "y": 0, "width": 1008, "height": 560, "scale": 1}


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        product(Path(folder), WEB_WORKERS="1", LIST_PROCESSES="1") as site,
        sync_playwright() as playwright,
    ):
        password, key = make_account(site, OWNER)
        list_id = clean_list(site, key)
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        for scheme in ("light", "dark"):
            page = browser.new_page(base_url=site.url, viewport=SIZE, color_scheme=scheme)
            sign_in(page, password)
            page.goto(f"/lists/{list_id}/")
            save(page, PICTURES / f"list-{scheme}.webp")
        browser.close()


def clean_list(site: Product, key: str) -> str:
    choices = random.Random(1)
    words = choices.choices([*WORDS], [*WORDS.values()], k=9_480)
    emails = [f"{word}+{number}@sandbox.test" for number, word in enumerate(words)]
    client = Client(key, site.url)
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("email\n" + "\n".join(emails))
        file.flush()
        created = client.lists.create(file.name, name="Newsletter, November", recheck_unknown=False)
    return client.lists.wait(created, until="completed").id


def sign_in(page: Page, password: str) -> None:
    page.goto("/accounts/login/")
    page.get_by_label("Email").fill(OWNER)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/validation/**")


def save(page: Page, file: Path) -> None:
    page.wait_for_load_state("networkidle")
    session = page.context.new_cdp_session(page)
    taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": 65, "clip": CLIP})
    file.write_bytes(base64.b64decode(taken["data"]))


if __name__ == "__main__":
    main()
