"""An owner who has used every feature, so that every page has content."""

import re
from dataclasses import dataclass

from playwright.sync_api import Page

from tests.journeys.authenticator_app import set_up_authenticator_app
from tests.journeys.keys import create_key, find_key_id
from tests.journeys.lists import run_lists
from tests.journeys.newcomers import Newcomer
from tests.journeys.passkeys import add_passkey, open_with_device
from tests.journeys.purchases import order_pack
from tests.journeys.teams import invitation_link, invite, join
from tests.journeys.webhooks import create_webhook, send_test_event, webhook_process
from tests.journeys.windows import Windows
from tests.servers.client import HttpCaller
from tests.servers.product import Product
from tests.servers.receiver import receiver, respond

COLLEAGUE = "colleague@pages.example"
INVITED = "invited@pages.example"
KEY = "My server"


@dataclass(frozen=True)
class PopulatedAccount:
    owner: Newcomer
    windows: Windows
    page: Page
    # Ids for the placeholders in the paths of pages.
    ids: dict[str, str]


def populate_account(windows: Windows, site: Product, owner: Newcomer) -> PopulatedAccount:
    page = open_with_device(windows, site, owner)
    invite(page, COLLEAGUE)
    join(windows.open(), site, COLLEAGUE)
    invite(page, INVITED)
    set_up_authenticator_app(page, owner.email)
    add_passkey(page, "My laptop")
    call_the_api(site, create_key(page, KEY))
    order_pack(page)
    upload_list(page, site)
    create_webhooks(page, site)
    return PopulatedAccount(owner, windows, page, _collect_ids(page, site))


def call_the_api(site: Product, secret: str) -> None:
    """Make calls with different results, to fill Overview, Usage and Requests."""
    caller = HttpCaller(site, secret)
    for word in ("deliverable", "risky", "undeliverable", "unknown", "insufficient_credits"):
        caller.validate(f"{word}@sandbox.test")
    caller.validate("no address")


def upload_list(page: Page, site: Product) -> None:
    """Upload a list that is ready to start."""
    page.goto("/lists/create/")
    page.get_by_label("Or paste addresses").fill("jane@sandbox.test\njoe@sandbox.test")
    page.get_by_role("button", name="Upload list").click()
    run_lists(site)


def create_webhooks(page: Page, site: Product) -> None:
    """Create an endpoint with a delivery."""
    with receiver(respond(200, b"ok")) as server, webhook_process(site):
        create_webhook(page, server.url)
        page.get_by_role("button", name="I've copied the secret").click()
        send_test_event(page)


def _collect_ids(page: Page, site: Product) -> dict[str, str]:
    page.goto("/accounts/team/")
    colleague = page.get_by_role("row").filter(has_text=COLLEAGUE)
    member = colleague.get_by_text("Remove").get_attribute("href") or ""
    page.goto("/accounts/2fa/webauthn/")
    passkey = page.get_by_text("Rename").get_attribute("href") or ""
    page.goto("/validation/requests/")
    links = page.locator(".log a")
    success, refused = (links.nth(index).get_attribute("href") or "" for index in (0, 1))
    page.goto(success)
    feedback = page.get_by_role("button", name="Send feedback").get_attribute("href")
    page.goto("/credits/packs/")
    pack = page.get_by_role("button", name="Buy 1,000 credits", exact=True).get_attribute("href")
    page.goto("/credits/orders/")
    order = page.get_by_role("link", name="INV-").first.get_attribute("href")
    page.goto("/lists/")
    uploaded = page.locator(".lists-table a").first.get_attribute("href") or ""
    page.goto("/accounts/webhooks/")
    page.locator("main table a").first.click()
    delivery = page.locator("main table a").first.get_attribute("href") or ""
    return {
        "endpoint": delivery.split("/")[3],
        "delivery": delivery.split("/")[-2],
        "list": uploaded.split("/")[-2],
        "pack": (pack or "").split("/")[-2],
        "order": (order or "").split("/")[-2],
        "success": success.removeprefix("/validation/requests/").rstrip("/"),
        "result": (feedback or "").split("/")[-3],
        "refused": refused.removeprefix("/validation/requests/").rstrip("/"),
        "key": find_key_id(page, KEY),
        "member": member.split("/")[-3],
        "passkey": re.sub(r"\D", "", passkey.removeprefix("/accounts/2fa/")),
        "invitation": invitation_link(site, INVITED).split("/")[-2],
    }
