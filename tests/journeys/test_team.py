import pytest
from playwright.sync_api import Page, expect

from tests.journeys.newcomers import Newcomers
from tests.journeys.teams import invite, join, rename_account
from tests.journeys.windows import Windows
from tests.servers.product import Product


@pytest.fixture(scope="module")
def owner(shared_windows: Windows, newcomers: Newcomers) -> Page:
    page = shared_windows.open(newcomers.take())
    rename_account(page, "The Crew")
    return page


@pytest.fixture(scope="module")
def developer(owner: Page, shared_windows: Windows, site: Product) -> Page:
    invite(owner, "developer@crew.example", "Developer")
    page = shared_windows.open()
    join(page, site, "developer@crew.example")
    return page


@pytest.mark.main_path
def test_invited_developer_sees_the_team_but_cannot_invite(developer: Page) -> None:
    developer.goto("/accounts/team/")
    rows = developer.get_by_role("row")
    expect(developer.get_by_text("The members of The Crew")).to_be_visible()
    expect(rows.filter(has_text="developer@crew.example")).to_contain_text("Developer")
    expect(rows.filter(has_text="@newcomers-")).to_contain_text("Owner")
    expect(developer.get_by_text("Invite a team member")).to_have_count(0)
