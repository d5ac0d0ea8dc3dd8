"""Members of an account that requires a second factor, on every page that they can open."""

import json
import time
from itertools import product

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.authentication.second_factor.middleware import NOTHING_SAVED
from accounts.models import Account, Membership, User
from accounts.roles import Role
from lists.models import AddressList
from tests.conftest import make_member, signed_in, signed_in_by_form
from tests.journeys.authenticator_app import code_at
from tests.support.api_client import ApiClient
from tests.support.pages import all_pages, mark_second_factor_used, populate_account
from tests.support.passkey_device import PasskeyDevice
from tests.support.second_factors import add_authenticator_app, add_passkey

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

SET_UP = "/accounts/security/required/"
# Views that members can open without the factor: what they do isn't about the account.
OPEN = {
    *("account_email", "account_email_verification_sent", "account_logout"),
    *("account_reauthenticate", "accounts:add-required-factor", "accounts:agree-to-terms"),
    *("accounts:confirm-at-provider", "accounts:open-account", "accounts:switch-account"),
    *("mfa_activate_totp", "mfa_add_webauthn"),
}


@pytest.fixture
def demanding(account: Account) -> Account:
    Account.objects.filter(pk=account.pk).update(second_factor_required_at=timezone.now())
    account.refresh_from_db()
    return account


@pytest.fixture
def member(demanding: Account) -> User:
    return make_member(demanding, Role.ADMIN)


def activate_app(browser: Client) -> str:
    """Set up an authenticator app in the browser and return where the form redirects to."""
    secret = browser.get("/accounts/2fa/totp/activate/").context["form"].secret
    # Otherwise the code's period could end before it is sent.
    with time_machine.travel(timezone.now(), tick=False):
        code = {"code": code_at(secret, time.time())}
        return browser.post("/accounts/2fa/totp/activate/", code).headers["Location"]


def continuation(browser: Client, page: str) -> str:
    """Return the path that a page offers to continue with."""
    return str(browser.get(page).context["request"].continue_to)


def test_every_page_and_form_of_the_account_leads_to_the_set_up(
    owner: User, demanding: Account
) -> None:
    values = populate_account(owner, demanding)
    Authenticator.objects.all().delete()
    browser = signed_in(owner)
    pages = [page for page in all_pages().values() if not page.is_api and not page.is_admin]
    closed = [
        page
        for page in pages
        if getattr(page.pattern.callback, "login_required", True) and page.name not in OPEN
    ]
    assert len(closed) > 60
    for page, method in product(closed, ("GET", "POST")):
        response = browser.generic(method, page.path(values))
        assert (response.status_code, response.headers["Location"]) == (302, SET_UP), page.name


def test_members_of_every_role_need_the_factor(demanding: Account) -> None:
    for user in (make_member(demanding, role) for role in Role):
        assert signed_in(user).get("/validation/").headers["Location"] == SET_UP
        add_authenticator_app(user)
        assert signed_in(user).get("/validation/").status_code == 200


def test_forms_change_nothing_and_say_so(member: User, demanding: Account) -> None:
    page = signed_in(member).post("/accounts/account/rename/", {"name": "Ours"}, follow=True)
    demanding.refresh_from_db()
    assert demanding.name == "The Shop"
    assert NOTHING_SAVED in page.content.decode().replace("&#x27;", "'")
    signed_in(member).post("/lists/create/", {"emails": "jane@shop.example"})
    assert not AddressList.objects.exists()


def test_set_up_names_the_account_and_shows_nothing_of_it(member: User) -> None:
    page = signed_in(member).get("/validation/", follow=True).content.decode()
    assert "The Shop requires a second factor for all members." in page
    set_up = signed_in(member).get("/accounts/2fa/totp/activate/").content.decode()
    assert "Sign out" in set_up
    assert "credits" not in set_up
    assert reverse("validation:show-overview") not in set_up


def test_member_continues_where_they_wanted_to_go(member: User) -> None:
    browser = signed_in(member)
    browser.get("/validation/requests/?verdict=risky")
    # A script's request is no page to return to.
    browser.get("/validation/arrivals/", headers={"Sec-Fetch-Mode": "cors"})
    browser.post("/accounts/account/rename/", {"name": "Ours"})
    last_page = activate_app(browser)
    mark_second_factor_used(browser, member)
    assert last_page == "/accounts/2fa/recovery-codes/"
    assert continuation(browser, last_page) == "/validation/requests/?verdict=risky"
    assert browser.get("/validation/requests/?verdict=risky").status_code == 200
    assert continuation(browser, last_page) == ""


def test_passkey_is_a_second_factor(member: User) -> None:
    browser = signed_in_by_form(member)
    browser.get("/validation/usage/")
    response = add_passkey(browser, PasskeyDevice())
    assert continuation(browser, response.headers["Location"]) == "/validation/usage/"
    assert browser.get("/validation/usage/").status_code == 200


def test_recovery_codes_alone_are_no_second_factor(member: User) -> None:
    add_authenticator_app(member)
    Authenticator.objects.filter(type=Authenticator.Type.TOTP).delete()
    assert signed_in(member).get("/validation/").headers["Location"] == SET_UP


def test_other_account_of_the_user_stays_open(member: User, stranger: User) -> None:
    theirs = stranger.memberships.get().account
    Membership.objects.create(account=theirs, user=member, role=Role.VIEWER)
    browser = signed_in(member)
    page = browser.get("/validation/", follow=True).content.decode()
    assert "Switch to Elsewhere" in page
    browser.post("/accounts/account/switch/", {"account": theirs.public_id})
    assert b"Elsewhere" in browser.get("/validation/").content
    assert browser.get(SET_UP).headers["Location"] == "/validation/"


def test_member_can_leave_but_not_remove_others(
    member: User, demanding: Account, owner: User
) -> None:
    browser = signed_in(member)
    path = "/accounts/team/members/{}/remove/"
    others = demanding.memberships.get(user=owner).public_id
    assert browser.post(path.format(others)).headers["Location"] == SET_UP
    own = path.format(demanding.memberships.get(user=member).public_id)
    assert browser.get(own).status_code == 200
    browser.post(own)
    assert list(demanding.memberships.values_list("user__email", flat=True)) == [owner.email]


def test_public_pages_and_sign_out_stay_open(member: User) -> None:
    browser = signed_in(member)
    for path in ("/", "/docs/", "/accounts/terms/", "/healthz"):
        assert browser.get(path).status_code == 200
    browser.post("/accounts/logout/")
    assert browser.get("/validation/").headers["Location"].startswith("/accounts/login/")


def test_set_up_page_is_only_for_those_who_need_it(owner: User, stranger: User) -> None:
    assert signed_in(stranger).get(SET_UP).headers["Location"] == "/validation/"
    stranger.memberships.all().delete()
    assert signed_in(stranger).get(SET_UP).headers["Location"] == "/validation/"


def test_api_keys_work_without_any_second_factor(demanding: Account, caller: ApiClient) -> None:
    response = caller.validate("deliverable@sandbox.test")
    assert json.loads(response.content)["verdict"] == "deliverable"
