import pytest
from playwright.sync_api import Page, expect

from tests.journeys.authenticator_app import set_up_authenticator_app
from tests.journeys.newcomers import Newcomer, Newcomers
from tests.journeys.sign_in import assert_heading
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


def test_an_owner_changes_a_role_and_removes_the_member(
    owner: Page, page: Page, site: Product
) -> None:
    email = "leaves@crew.example"
    invite(owner, email, "Developer")
    join(page, site, email)

    owner.goto("/accounts/team/")
    row = owner.get_by_role("row").filter(has_text=email)
    row.get_by_label(f"Role of {email}").select_option("Viewer")
    row.get_by_role("button", name="Change role").click()
    expect(owner.get_by_text(f"{email} now has the role Viewer.")).to_be_visible()
    row.get_by_text("Remove").click()
    owner.get_by_role("button", name="Remove member").click()
    expect(owner.get_by_text(f"{email} was removed.")).to_be_visible()

    page.goto("/validation/")
    expect(page.get_by_text("You don't belong to an account.")).to_be_visible()


def test_owner_requires_a_second_factor_and_a_member_sets_it_up(
    windows: Windows, newcomer: Newcomer, site: Product
) -> None:
    owner, member = windows.open(newcomer), windows.open()
    rename_account(owner, "The Vault")
    invite(owner, "member@vault.example")
    join(member, site, "member@vault.example")
    owner.goto("/accounts/team/")
    expect(owner.get_by_role("button", name="Require a second factor")).to_be_disabled()
    set_up_authenticator_app(owner, newcomer.email)
    owner.goto("/accounts/team/")
    expect(owner.get_by_text("1 of 2 members doesn't have one yet.")).to_be_visible()
    owner.get_by_role("button", name="Require a second factor").click()
    expect(owner.get_by_text("The Vault now requires a second factor")).to_be_visible()

    member.goto("/validation/requests/?verdict=risky")
    assert_heading(member, "Set up a second factor")
    expect(member.get_by_text("The Vault requires a second factor")).to_be_visible()
    member.get_by_role("button", name="Set up").click()
    assert_heading(member, "Set up an authenticator app")
    set_up_authenticator_app(member, "member@vault.example")
    member.get_by_role("link", name="continue to The Vault").click()
    assert_heading(member, "Requests")
    assert member.url.endswith("?verdict=risky")
    member.goto("/accounts/security/")
    member.get_by_role("button", name="Turn off").click()
    expect(member.get_by_text("The Vault requires a second factor, and this is")).to_be_visible()
