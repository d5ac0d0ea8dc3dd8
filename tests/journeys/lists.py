"""Work on lists, which the product of the journeys leaves to the tests."""

from playwright.sync_api import Page

from tests.servers.keys import manage
from tests.servers.product import Product

_WORK = """
from lists.processing.running import work_once
while work_once():
    pass
"""

_MAKE = """
from accounts.models import Account
from lists.models.states import ListState
from tests.lists.results_factory import make_list, make_ready_list, set_state
account = Account.objects.get(memberships__user__email="{email}")
typos = {{"gmial.com": {{"count": 1, "suggestion": "gmail.com"}}}}
found = {{"reasons": {{"possible_typo": 1, "domain_not_found": 1}}, "typos": typos}}
made = [make_ready_list(account, b"name,city\\nJane,Springfield\\nJoe,Shelbyville\\n")]
states = (ListState.PAUSED, ListState.RECHECKING, ListState.COMPLETED, ListState.FAILED)
made += [make_list(account) for _ in states]
for state, address_list in zip(states, made[1:]):
    set_state(address_list, state, **found)
for address_list in made:
    print(f"/lists/{{address_list.public_id}}/")
"""


def run_lists(site: Product) -> None:
    """Do all the work that lists have now."""
    manage(site, "shell", "--no-imports", "-c", _WORK)


def upload_list(page: Page, site: Product) -> None:
    """Upload a list that is ready to start."""
    page.goto("/lists/create/")
    page.get_by_label("Or paste addresses").fill("jane@sandbox.test\njoe@sandbox.test")
    page.get_by_role("button", name="Upload list").click()
    run_lists(site)


def make_lists(site: Product, email: str) -> list[str]:
    """Make a list without addresses, and lists with results in several states; return the paths."""
    return manage(site, "shell", "--no-imports", "-c", _MAKE.format(email=email)).splitlines()
