"""An owner whose account has a row of each kind, so that every page has content."""

import json
from dataclasses import dataclass

from playwright.sync_api import Page

from tests.journeys.newcomers import Newcomer
from tests.journeys.passkeys import open_with_device
from tests.journeys.windows import Windows
from tests.servers.keys import manage
from tests.servers.product import Product

CALLS = ("deliverable", "risky", "undeliverable", "unknown", "insufficient_credits", "no address")


@dataclass(frozen=True)
class PopulatedAccount:
    windows: Windows
    page: Page
    # Values for the placeholders in the paths of pages.
    ids: dict[str, str]


def open_populated_account(windows: Windows, site: Product, owner: Newcomer) -> PopulatedAccount:
    code = f"from {__name__} import print_account; print_account({owner.email!r})"
    ids, cookies = json.loads(manage(site, "shell", "--no-imports", "-c", code))
    page = open_with_device(windows, site, Newcomer(owner.email, cookies))
    page.goto("/validation/")
    return PopulatedAccount(windows, page, ids)


def print_account(email: str) -> None:
    """Add the rows; print their ids and the cookie of a session. Runs in a product's process."""
    from django.conf import settings

    from accounts.models import User
    from apikeys.services import create_key
    from reference.models import Incident
    from runtime.dates import to_microseconds
    from tests.lists.results_factory import make_ready_list
    from tests.support.api_client import ApiClient
    from tests.support.pages import browser_for, populate_account
    from tests.support.second_factors import add_authenticator_app
    from validation.models import LogEntry

    owner = User.objects.get(email=email)
    account = owner.memberships.get().account
    ids = populate_account(owner, account)
    # It would be at the top of every page, also those of other journeys.
    Incident.objects.all().delete()
    add_authenticator_app(owner)
    _, secret = create_key(account=account, name="My server", actor=owner)
    for word in CALLS:
        ApiClient(secret).validate(f"{word}@sandbox.test", Host=settings.BASE_HOST)
    refused = LogEntry.objects.filter(account=account, status=402).latest("at")
    ids["refused"] = f"{refused.request_id}/{to_microseconds(refused.at)}"
    ids["ready"] = make_ready_list(account).public_id
    name = settings.SESSION_COOKIE_NAME
    print(json.dumps([ids, {name: browser_for(owner).cookies[name].value}]))
